-- Extends one exclusive lease and takes the next fence of its key for it. Answers 'rotated', expiry, fence; or
-- 'no_fences', 'expired' or 'not_found', and then nothing was written. The arguments: for how long the counter is kept,
-- lock id, ttl.

-- include leases
-- include grants

local k = lock_keys(1)
local lease, reason, lapsed_reader = find_lease(k, ARGV[2])
-- A reader keeps the fence of its grant, which orders it and the writers.
if lapsed_reader or lease and lease.shared then
    return { 'not_found' }
end
if not lease then
    return { reason }
end
-- The counter is checked before anything is written: an extension without a fence must not remain.
if not has_fences(k) then
    return { 'no_fences' }
end

local before, expires_at = lease.expires_at, now + ARGV[3]
-- The first write is a command that Redis allows with full memory.
redis.call('PEXPIREAT', k.id, text(expires_at + TOLERANCE))
local fence = next_fence(k)
lease.fence, lease.expires_at = string.format(FENCE_FORMAT, fence), expires_at
write_lease(k, lease)
-- With the fence, the counter has got an expiry that may be earlier than that of the lease.
keep_counter(k, expires_at, now)
local answer = { 'rotated', expires_at, fence }
if expires_at >= before or redis.call('EXISTS', k.queue) == 0 then
    return answer
end

-- include queue
-- include wake_ups

wake(k, WRITER_BEFORE_ALL)
return answer
