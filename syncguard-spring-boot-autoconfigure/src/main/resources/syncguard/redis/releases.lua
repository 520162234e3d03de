-- The end of a lease. Needs leases.lua.

-- Ends the lease with this lock id, without wake-ups. Answers 'released' and the name; or 'expired' or 'not_found'.
local function end_lease(lock_id)
    local lease, reason = find_lease(lock_id)
    if not lease then
        return reason
    end
    redis.call('ZREM', key(LEASES[lease.mode], lease.name), lock_id)
    redis.call('DEL', key('id', lock_id))
    return 'released', lease.name
end
