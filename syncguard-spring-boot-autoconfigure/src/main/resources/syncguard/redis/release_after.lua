-- Ends a lease so that the key is free so many milliseconds after the grant, or now if they are over. Answers 'released', or why
-- there is nothing to end: 'expired' or 'not_found'.

-- include leases

local lock_id, hold_ms = ARGV[1], tonumber(ARGV[2])

local set, old_end, name, mode = lease_of(lock_id)
if not set then
    return 'not_found'
end
if old_end <= now - TOLERANCE then
    return 'expired'
end

-- Under another lock id from now on: nobody can release it again, and an extension that comes late does not make it longer.
local kept_id = 'released:' .. lock_id
local lease = redis.call('HMGET', key('id', lock_id), 'acquired_at_ms', 'fence', 'user_key', 'owner')
-- First what Redis allows with its memory full: after that it allows the rest of a script as well.
redis.call('DEL', key('id', lock_id))
redis.call('ZREM', set, lock_id)
redis.call(
    'HSET', key('id', kept_id), 'name', name, 'mode', mode, 'acquired_at_ms', lease[1], 'fence', lease[2],
    'user_key', lease[3], 'owner', lease[4])
-- The tolerance is for a holder who stops at the end of the lease. This one has stopped.
keep_lease(set, mode, kept_id, lease[1] + hold_ms - TOLERANCE)
if redis.call('EXISTS', key('queue', name)) == 0 then
    return 'released'
end

-- include queue

-- Who waits was told another end.
wake(name, 0, false)
return 'released'
