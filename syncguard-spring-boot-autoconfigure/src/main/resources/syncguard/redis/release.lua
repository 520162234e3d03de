-- Ends what has this lock id: a lease, or a place in the queue. Answers 'released', 'left', or why there is nothing to end:
-- 'expired' or 'not_found'.

-- include leases

local lock_id = ARGV[1]

local set, ends, name = lease_of(lock_id)
if set and ends <= now - TOLERANCE then
    return 'expired'
end
if set then
    redis.call('ZREM', set, lock_id)
    redis.call('DEL', key('id', lock_id))
    if redis.call('EXISTS', key('queue', name)) == 0 then
        return 'released'
    end
end

-- include queue

-- The first place in the queue; nil if there is none. Who died in front keeps nobody from being handed the key.
local function first_place(name)
    local first = redis.call('ZRANGE', key('queue', name), 0, 0)[1]
    if first and not place_end(name, first) then
        remove_lapsed_places(name)
        first = redis.call('ZRANGE', key('queue', name), 0, 0)[1]
    end
    return first
end

-- Makes a lease of the first place in the queue, if that one waits for the key alone and may be handed it, and tells its
-- process. Readers who lapsed are left to the claim.
local function hand_over(name)
    local first = first_place(name)
    local place = first and read_place(first)
    if not place or place.shared or redis.call('EXISTS', key('readers', name)) == 1 then
        return false
    end
    local id = redis.call('HMGET', key('id', place.lock_id), 'first_lease_ms', 'user_key', 'owner', 'secret')
    if not id[1] then
        return false
    end
    local fence = next_fence(name)
    if not fence then
        return false
    end
    remove_lapsed_leases(name)
    remove_place(name, first)
    redis.call('DEL', key('id', place.lock_id))
    local ends = write_lease(name, place.mode, place.lock_id, fence, tonumber(id[1]), id[2], id[3])
    -- The secret says that this is no message of a stranger. Only here: a wake-up leaves the place as it is.
    tell(place, table.concat({ place.waiter, id[4], text(fence), text(now), text(ends) }, ' '))
    return true
end

if set then
    if not hand_over(name) then
        wake(name)
    end
    return 'released'
end

local id = redis.call('HMGET', key('id', lock_id), 'name', 'place')
if not id[2] then
    return 'not_found'
end
redis.call('DEL', key('id', lock_id))
if not remove_place(id[1], id[2]) then
    return 'not_found'
end
local place = read_place(id[2])
wake(id[1], place.arrival, place.shared)
return 'left'
