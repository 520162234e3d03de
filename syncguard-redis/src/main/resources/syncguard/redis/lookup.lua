-- The live leases of a key: lock id, mode, expiry, start, fence and label of each.

-- include leases
-- include live_leases

return live_leases(lock_keys(1))
