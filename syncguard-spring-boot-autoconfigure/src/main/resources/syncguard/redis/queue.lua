-- The queue: who waits, in which order, and who is told. Needs leases.lua.

local PLACES = { EXCLUSIVE = 'waiting_writers', SHARED = 'waiting_readers' }

local function is_live(set)
    local last = last_end(set)
    return last ~= nil and last > now - TOLERANCE
end

-- Never passed over: an extension would revive one beside the lease that comes next.
local function remove_lapsed_leases(name)
    redis.call('ZREMRANGEBYSCORE', key('lock', name), '-inf', now - TOLERANCE)
    redis.call('ZREMRANGEBYSCORE', key('readers', name), '-inf', now - TOLERANCE)
end

-- The first end in the set that is later than that; nil if there is none.
local function first_end(set, after)
    return tonumber(redis.call('ZRANGEBYSCORE', set, '(' .. text(after), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2])
end

-- The earlier, or the later, of two times that may be nil.
local function earlier(one, other)
    return one and other and math.min(one, other) or one or other
end

local function later(one, other)
    return one and other and math.max(one, other) or one or other
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
