-- Ends a lease so that the key is free this many milliseconds after the grant, or now if they are over. Answers
-- 'released', or why there is nothing to end: 'expired' or 'not_found'.

-- include leases
-- include grants

local lock_id, hold_ms = ARGV[1], tonumber(ARGV[2])

local lease, reason = find_lease(lock_id)
if not lease then
    return reason
end

local id = redis.call('HMGET', key('id', lock_id), 'acquired_at_ms', 'fence', 'user_key', 'owner')
-- First a command that Redis allows with full memory. It allows the rest of the script then: a holder can release.
redis.call('DEL', key('id', lock_id))
redis.call('ZREM', key(LEASES[lease.mode], lease.name), lock_id)
-- Under a lock id that nobody has: nobody can release it again, and a late extension does not make it longer.
lease.lock_id = 'released:' .. lock_id
lease.acquired_at, lease.fence, lease.user_key, lease.owner = unpack(id)
-- The tolerance is for a holder who acts until the expiry. This one has stopped.
write_lease(lease, lease.acquired_at + hold_ms - TOLERANCE)
if redis.call('EXISTS', key('queue', lease.name)) == 0 then
    return 'released'
end

-- include queue
-- include wake_ups

wake(lease.name, WRITER_BEFORE_ALL)
return 'released'
