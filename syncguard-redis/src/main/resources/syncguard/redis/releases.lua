-- The end of a lease. Needs leases.lua.

-- Ends the lease with this lock id, without wake-ups. Answers 'released' and the name; or 'expired' or 'not_found'.
local function end_lease(lock_id)
    local lease, reason = find_lease(lock_id)
    if not lease then
        return reason
    end
    local id, set = key('id', lock_id), key(LEASES[lease.mode], lease.name)
    if lease.mode == 'SHARED' then
        redis.call('ZREM', set, lock_id)
        redis.call('DEL', id)
    else
        -- An exclusive lease is alone in its set.
        redis.call('DEL', set, id)
    end
    return 'released', lease.name
end
