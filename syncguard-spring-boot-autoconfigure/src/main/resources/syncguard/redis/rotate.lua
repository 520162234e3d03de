-- Extends one exclusive lease, which also takes the next fence of its key. Answers 'rotated' with the new end and fence, or
-- 'no_fences', 'expired' or 'not_found', and then nothing was written.

-- include leases

local lock_id, ttl = ARGV[1], tonumber(ARGV[2])

local set, old_end, name, mode = lease_of(lock_id)
if mode ~= 'EXCLUSIVE' then
    return { 'not_found' }
end
if old_end <= now - TOLERANCE then
    return { 'expired' }
end
if not has_fences(name) then
    return { 'no_fences' }
end

local ends = now + ttl
keep_lease(set, mode, lock_id, ends)
local fence = redis.call('INCR', key('fence', name))
redis.call('HSET', key('id', lock_id), 'fence', string.format('%015.0f', fence))
local answer = { 'rotated', ends, fence }
if ends >= old_end or redis.call('EXISTS', key('queue', name)) == 0 then
    return answer
end

-- include queue

wake(name, 0, false)
return answer
