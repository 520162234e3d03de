-- Extends one exclusive lease and takes the next fence of its key for it. Answers 'rotated', expiry, fence; or
-- 'no_fences', 'expired' or 'not_found', and then nothing was written.

-- include leases
-- include grants

local lock_id, ttl = ARGV[1], tonumber(ARGV[2])

local lease, reason, lapsed_mode = find_lease(lock_id)
-- A reader keeps the fence of its grant, which orders it and the writers.
if (lapsed_mode or lease and lease.mode) == 'SHARED' then
    return { 'not_found' }
end
if not lease then
    return { reason }
end
-- Before anything is written: an extension without a fence must not remain.
if not has_fences(lease.name) then
    return { 'no_fences' }
end

local expires_at = now + ttl
extend_lease(lease, expires_at)
local fence = next_fence(lease.name)
-- Again: with the fence, the counter has got an expiry that may be earlier than that of the lease.
keep_counter(lease.name, expires_at, now)
redis.call('HSET', key('id', lock_id), 'fence', string.format(FENCE_FORMAT, fence))
local answer = { 'rotated', expires_at, fence }
if expires_at >= lease.expires_at or redis.call('EXISTS', key('queue', lease.name)) == 0 then
    return answer
end

-- include queue
-- include wake_ups

wake(lease.name, WRITER_BEFORE_ALL)
return answer
