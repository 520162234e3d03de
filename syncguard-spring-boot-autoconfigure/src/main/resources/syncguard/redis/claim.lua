-- One attempt. Answers 'granted' with fence, start and end; 'refused' or 'queued' with the time left and who has the key; or
-- 'no_fences' when the counter is at its end.
--
-- With place_ms it is the attempt of a waiter: it takes a place in the queue, or keeps the one that it has, for so long, and the
-- time left says when to look again. Without, it is a try that does not queue, and writes nothing if it is refused; who has a place
-- gives it up.

-- include leases

local name, mode, lock_id, ttl, user_key, owner = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
local place_ms, first_lease_ms, waiter, channel, secret = tonumber(ARGV[7]), ARGV[8], ARGV[9], ARGV[10], ARGV[11]

local shared = mode == 'SHARED'
local locks, readers, queue, id = key('lock', name), key('readers', name), key('queue', name), key('id', lock_id)

-- Most keys: nothing is there, one look tells.
if redis.call('EXISTS', locks, readers, queue, id) == 0 then
    local fence = next_fence(name)
    return fence and { 'granted', fence, now, write_lease(name, mode, lock_id, fence, ttl, user_key, owner) } or { 'no_fences' }
end

-- include queue

-- When the first and the last of these places end that are in front of that arrival, or of somebody who has not arrived.
local function in_front(places, arrival)
    if not arrival then
        return first_end(places, now), last_end(places)
    end
    local first, last
    local ends = redis.call('ZRANGEBYSCORE', places, '(' .. text(now), '+inf', 'WITHSCORES')
    for i = 1, #ends, 2 do
        if read_place(ends[i]).arrival < arrival then
            first = first or tonumber(ends[i + 1])
            last = tonumber(ends[i + 1])
        end
    end
    return first, last
end

-- What is in the way: leases, and places in front.
local last_lease = last_end(locks)
if not shared then
    last_lease = later(last_lease, last_end(readers))
end
local place, arrival, soonest, latest
if redis.call('EXISTS', queue) == 1 then
    place = redis.call('HGET', id, 'place') or nil
    arrival = place and place_end(name, place) and read_place(place).arrival
    -- Nobody is in front of the first, as who was woken nearly always is.
    if not arrival or redis.call('ZRANGE', queue, 0, 0)[1] ~= place then
        soonest, latest = in_front(key(PLACES.EXCLUSIVE, name), arrival)
        if not shared then
            local soonest_reader, latest_reader = in_front(key(PLACES.SHARED, name), arrival)
            soonest, latest = earlier(soonest, soonest_reader), later(latest, latest_reader)
        end
    end
end
local time_left = (later(last_lease and last_lease + TOLERANCE, latest) or now) - now

-- The caller may be in its own way. A release has made a lease of its place, and it does not know yet; or the driver of a cluster
-- sends again what it had sent to a node that has gone.
local own, own_end, _, own_mode
if time_left > 0 then
    own, own_end, _, own_mode = lease_of(lock_id)
end
if own and own_end > now - TOLERANCE then
    keep_lease(own, own_mode, lock_id, now + ttl)
    local granted = redis.call('HMGET', id, 'fence', 'acquired_at_ms')
    return { 'granted', tonumber(granted[1]), tonumber(granted[2]), now + ttl }
end

-- With the time left and, for people, by whom the key is held: owner, start, and whether others hold it, too. Of several readers
-- the one who ends last. Nobody, where only those who wait are in the way.
local function not_granted(outcome, time_left)
    for _, set in ipairs(shared and { locks } or { locks, readers }) do
        local last = redis.call('ZREVRANGE', set, 0, 1, 'WITHSCORES')
        if last[1] and tonumber(last[2]) > now - TOLERANCE then
            local id = redis.call('HMGET', key('id', last[1]), 'owner', 'acquired_at_ms')
            if id[2] then
                local others = last[3] and tonumber(last[4]) > now - TOLERANCE
                return { outcome, time_left, id[1] or '', tonumber(id[2]), others and 1 or 0 }
            end
        end
    end
    return { outcome, time_left }
end

if time_left > 0 and not place_ms then
    if arrival then
        remove_place(name, place)
        redis.call('DEL', id)
        wake(name, arrival, shared)
    end
    return not_granted('refused', time_left)
end

if time_left > 0 then
    if place then
        -- One that lapsed is lost. One that is kept is known by another number from now on.
        remove_place(name, place)
    end
    arrival = arrival or (tonumber(redis.call('ZREVRANGE', queue, 0, 0, 'WITHSCORES')[2]) or 0) + 1
    place = table.concat({ text(arrival), mode, lock_id, waiter, channel }, ':')
    redis.call('ZADD', queue, arrival, place)
    redis.call('HSET', id, 'name', name, 'place', place)
    if first_lease_ms ~= '' then
        redis.call('HSET', id, 'first_lease_ms', first_lease_ms, 'secret', secret, 'user_key', user_key, 'owner', owner)
    end
    keep_place(name, lock_id, place, now + place_ms)
    -- The next to look for: the first of the leases is over, and the others may have gone by then without a word; or somebody
    -- in front has died.
    local first = first_end(locks, now - TOLERANCE)
    if not shared then
        first = earlier(first, first_end(readers, now - TOLERANCE))
    end
    return not_granted('queued', earlier(first and first + TOLERANCE, soonest) - now)
end

local fence = next_fence(name)
if not fence then
    return { 'no_fences' }
end
remove_lapsed_leases(name)
if place then
    remove_place(name, place)
end
redis.call('DEL', id)
return { 'granted', fence, now, write_lease(name, mode, lock_id, fence, ttl, user_key, owner) }
