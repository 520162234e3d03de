-- Extends one exclusive lease, which also takes the next fence of its key. Answers 'rotated' with the new end and fence, or
-- 'no_fences', 'expired' or 'not_found', and then nothing was written.
local lock_id, ttl = ARGV[1], tonumber(ARGV[2])

local lease = lease_of(lock_id)
if not lease or lease.mode ~= 'EXCLUSIVE' then
    return { 'not_found' }
end
if lease.ends <= now - TOLERANCE then
    return { 'expired' }
end
if not has_fences(lease.name) then
    return { 'no_fences' }
end

local ends = now + ttl
keep_lease(lease.set, lock_id, ends)
local fence = redis.call('INCR', key('fence', lease.name))
redis.call('HSET', key('id', lock_id), 'fence', string.format('%015.0f', fence))
if ends < lease.ends and redis.call('EXISTS', key('queue', lease.name)) == 1 then
    wake(lease.name, 0, false)
end
return { 'rotated', ends, fence }
