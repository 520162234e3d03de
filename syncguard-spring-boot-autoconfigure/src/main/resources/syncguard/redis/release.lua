-- Ends what has this lock id: a lease, or a place in the queue. Answers 'released', 'left', or why there is nothing to end:
-- 'expired' or 'not_found'.
local lock_id = ARGV[1]

local lease = lease_of(lock_id)
if lease then
    if lease.ends <= now - TOLERANCE then
        return 'expired'
    end
    redis.call('ZREM', lease.set, lock_id)
    redis.call('DEL', key('id', lock_id))
    if redis.call('EXISTS', key('queue', lease.name)) == 1 then
        wake(lease.name)
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
