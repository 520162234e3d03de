-- Ends a lease so that the key is free this many milliseconds after the grant, or now if they are over. Answers
-- 'released', or why there is nothing to end: 'expired' or 'not_found'. The arguments: for how long the counter is
-- kept, lock id, milliseconds.

-- include leases

local k, lock_id = lock_keys(1), ARGV[2]
local lease, reason = find_lease(k, lock_id)
if not lease then
    return reason
end

-- The first write is a command that Redis allows with full memory. It allows the rest of the script then: a holder can
-- release.
delete_lease(k, lease)
-- The tolerance is for a holder who acts until the expiry. This one has stopped.
lease.expires_at = (tonumber(lease.start) or now) + ARGV[3] - TOLERANCE
if lease.fence and is_live(lease) then
    -- The lease gets a lock id that nobody has: nobody can release it again, and a late extension does not make it
    -- longer.
    lease.lock_id = 'released:' .. lock_id
    if lease.shared then
        write_reader(k, lease)
    end
    write_lease(k, lease)
end
if redis.call('EXISTS', k.queue) == 0 then
    return 'released'
end

-- include queue
-- include wake_ups

wake(k, WRITER_BEFORE_ALL)
return 'released'
