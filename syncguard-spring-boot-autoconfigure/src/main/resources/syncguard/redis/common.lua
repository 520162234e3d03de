-- Stands in front of every script: the names, the clock and the queue. Each script is one step that nobody comes between.
--
-- KEYS[1] is what every key begins with; in a cluster there is a hash tag in it, and all of them are on one node. The families:
--
--   lock, readers                      sorted sets, one each per key: lock ids of exclusive and of shared leases by their ends
--   queue                              a sorted set per key: the places of who waits for it, by arrival
--   waiting_writers, waiting_readers   sorted sets per key: the same places by their ends
--   fence                              a counter per key. NEVER delete one: a fence that is used twice protects nothing
--   id                                 a hash per lock id: what it stands for, a lease or a place
--
-- A lease, exclusive or shared, is live while its end is less than a second ago; a place until its end. Everything but the
-- counters expires by itself when it is of no use any more, a lease together with its id.
--
-- Numbers are doubles, exact to 2^53, and so are scores. Redis writes those that are handed to a command with 17 digits;
-- tostring would write 14.

local TOLERANCE = 1000
local LEASES = { EXCLUSIVE = 'lock', SHARED = 'readers' }
local PLACES = { EXCLUSIVE = 'waiting_writers', SHARED = 'waiting_readers' }
local LAST_FENCE = 900000000000000

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function key(family, name)
    return KEYS[1] .. family .. ':' .. name
end

local function text(number)
    return string.format('%.0f', number)
end

-- The first end in the set that is later than that; nil if there is none.
local function first_end(set, after)
    return tonumber(redis.call('ZRANGEBYSCORE', set, '(' .. text(after), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2])
end

-- The last end in the set; nil if it is empty.
local function last_end(set)
    return tonumber(redis.call('ZREVRANGE', set, 0, 0, 'WITHSCORES')[2])
end

-- The earlier, or the later, of two times that may be nil.
local function earlier(one, other)
    return one and other and math.min(one, other) or one or other
end

local function later(one, other)
    return one and other and math.max(one, other) or one or other
end

local function is_live(set)
    local last = last_end(set)
    return last ~= nil and last > now - TOLERANCE
end

-- The lease with this lock id: its set, its end, and the name and mode of the grant; nil if there is none. Only the set says
-- who has a lease: an id may have outlived it.
local function lease_of(lock_id)
    local id = redis.call('HMGET', key('id', lock_id), 'name', 'mode')
    if not id[2] then
        return nil
    end
    local set = key(LEASES[id[2]], id[1])
    local ends = redis.call('ZSCORE', set, lock_id)
    return ends and { set = set, ends = tonumber(ends), name = id[1], mode = id[2] } or nil
end

-- A place is a text of arrival, mode, lock id, number of the waiter, and the channel of its process.
local function read_place(place)
    local arrival, mode, lock_id, waiter, channel = string.match(place, '^(%d+):(%u+):([^:]+):(%d+):(.*)$')
    return {
        arrival = tonumber(arrival), mode = mode, shared = mode == 'SHARED', lock_id = lock_id, waiter = waiter, channel = channel
    }
end

-- The end of a place; nil if it is not in the queue any more, or has lapsed.
local function place_end(name, place)
    local ends = tonumber(redis.call('ZSCORE', key(PLACES[read_place(place).mode], name), place) or nil)
    return ends and ends > now and ends or nil
end

-- Has a place that is in the queue live until then. All places of a key are kept until the last one ends: who has died has to be
-- found to be taken out of the queue.
local function keep_place(name, lock_id, place, ends)
    local writers, readers = key(PLACES.EXCLUSIVE, name), key(PLACES.SHARED, name)
    -- First what Redis allows with its memory full: after that it allows the rest of a script as well.
    redis.call('PEXPIREAT', key('id', lock_id), ends)
    redis.call('ZADD', key(PLACES[read_place(place).mode], name), ends, place)
    local last = later(last_end(writers), last_end(readers))
    redis.call('PEXPIREAT', writers, last)
    redis.call('PEXPIREAT', readers, last)
    redis.call('PEXPIREAT', key('queue', name), last)
end

-- Has a lease live until then.
local function keep_lease(set, lock_id, ends)
    -- First what Redis allows with its memory full: after that it allows the rest of a script as well, and who holds a lock can
    -- keep it.
    redis.call('PEXPIREAT', key('id', lock_id), ends + TOLERANCE)
    redis.call('ZADD', set, ends, lock_id)
    redis.call('PEXPIREAT', set, last_end(set) + TOLERANCE)
end

-- Whether the counter is not at its end yet. Asked before anything is written.
local function has_fences(name)
    return (tonumber(redis.call('GET', key('fence', name)) or 0) or 0) < LAST_FENCE
end

-- Grants a key for which nothing live is in the way; "free" if there is nothing at all of the key and of the lock id. Answers fence
-- and end; nothing when the counter is at its end.
local function grant(name, mode, lock_id, ttl, user_key, owner, free)
    if not has_fences(name) then
        return nil
    end
    local fence = redis.call('INCR', key('fence', name))
    if not free then
        -- Lapsed leases are deleted, never passed over: an extension would revive one beside ours.
        redis.call('ZREMRANGEBYSCORE', key('lock', name), '-inf', now - TOLERANCE)
        redis.call('ZREMRANGEBYSCORE', key('readers', name), '-inf', now - TOLERANCE)
        redis.call('DEL', key('id', lock_id))
    end
    redis.call(
        'HSET', key('id', lock_id), 'name', name, 'mode', mode, 'acquired_at_ms', now, 'fence', string.format('%015.0f', fence),
        'user_key', user_key, 'owner', owner)
    keep_lease(key(LEASES[mode], name), lock_id, now + ttl)
    return fence, now + ttl
end

-- Answers whether it was there.
local function remove_place(name, place)
    redis.call('ZREM', key('queue', name), place)
    return redis.call('ZREM', key(PLACES[read_place(place).mode], name), place) == 1
end

-- Thousands may have died at once: a command takes a few thousand arguments.
local function remove_lapsed_places(name)
    for _, family in ipairs({ PLACES.EXCLUSIVE, PLACES.SHARED }) do
        local lapsed = redis.call('ZRANGEBYSCORE', key(family, name), '-inf', now)
        for from = 1, #lapsed, 1000 do
            redis.call('ZREM', key('queue', name), unpack(lapsed, from, math.min(from + 999, #lapsed)))
        end
        redis.call('ZREMRANGEBYSCORE', key(family, name), '-inf', now)
    end
end

local function tell(place, message)
    -- Who may not send to that channel may not have subscribed to it either, and the others are not to suffer.
    redis.pcall('PUBLISH', place.channel, message)
end

-- Wakes the waiters of a key who can go on: nothing live conflicts with them, and nobody who conflicts is in front.
--
-- With "after" also those who are first and arrived after that, whatever leases there are: they have to look again, because
-- somebody left from in front of them who knew better than they when to look. Shared ones do not stand in each other's way. With
-- an "after" of 0, because a lease ends earlier, also the first writer behind readers who are first: they may pass it by in silence.
local function wake(name, after, after_shared)
    remove_lapsed_places(name)
    local written = is_live(key('lock', name))
    local read = is_live(key('readers', name))
    local from, writer = 0, nil
    repeat
        local places = redis.call('ZRANGE', key('queue', name), from, from + 99)
        for i, each in ipairs(places) do
            local place = read_place(each)
            local first = from + i == 1
            local can_go_on = not written and (place.shared or first and not read)
            local looks_again = after and place.arrival > after and not (place.shared and after_shared)
            if place.channel ~= '' and (can_go_on or looks_again) and (place.shared or first or after == 0) then
                tell(place, place.waiter)
            end
            if not place.shared then
                writer = place
                break
            end
        end
        from = from + #places
    until writer or #places == 0
end

