-- Keeps places for so long from now, and answers in the order asked in how many milliseconds to look again: 0 for who can go on,
-- and for who has lost the place.

-- include leases
-- include queue

local place_ms = tonumber(ARGV[1])

-- The places that are asked for and not lost, by lock id; and their keys, once each.
local places, names = {}, {}
for i = 2, #ARGV do
    local lock_id = ARGV[i]
    local id = redis.call('HMGET', key('id', lock_id), 'name', 'place')
    if id[2] and place_end(id[1], id[2]) then
        keep_place(id[1], lock_id, id[2], now + place_ms)
        places[lock_id] = id[2]
        names[id[1]] = true
    end
end

-- When the place of each waiter of these keys is to be looked at again: the first of the leases in its way, or of the places in
-- front of it, is over. One pass over each queue, however many ask.
local looks = {}
for name in pairs(names) do
    local ends = {}
    for _, family in ipairs({ PLACES.EXCLUSIVE, PLACES.SHARED }) do
        local live = redis.call('ZRANGEBYSCORE', key(family, name), '(' .. text(now), '+inf', 'WITHSCORES')
        for i = 1, #live, 2 do
            ends[live[i]] = tonumber(live[i + 1])
        end
    end
    local written = first_end(key('lock', name), now - TOLERANCE)
    local read = first_end(key('readers', name), now - TOLERANCE)
    local writers, everybody -- the first ends of the places in front
    for _, place in ipairs(redis.call('ZRANGE', key('queue', name), 0, -1)) do
        if ends[place] then
            if read_place(place).shared then
                looks[place] = earlier(written and written + TOLERANCE, writers)
            else
                local leases = earlier(written, read)
                looks[place] = earlier(leases and leases + TOLERANCE, everybody)
                writers = earlier(writers, ends[place])
            end
            everybody = earlier(everybody, ends[place])
        end
    end
end

local answers = {}
for i = 2, #ARGV do
    local look = places[ARGV[i]] and looks[places[ARGV[i]]]
    table.insert(answers, look and look - now or 0)
end
return answers
