-- Ends all leases of a lock at the request of an operator, draws a fence that is larger than theirs, and wakes waiters.
-- Answers how many live leases have ended, and the fence: 0 if the fence counter has reached its end.

-- include leases
-- include grants

local name = ARGV[1]
local lock_ids, live = {}, 0
for _, family in pairs(LEASES) do
    local set = redis.call('ZRANGE', key(family, name), 0, -1, 'WITHSCORES')
    for i = 1, #set, 2 do
        table.insert(lock_ids, set[i])
        live = live + (tonumber(set[i + 1]) > now - TOLERANCE and 1 or 0)
    end
end
if live == 0 then
    return { 0, 0 }
end

-- include queue
-- include wake_ups

-- First what Redis may refuse with full memory: nothing has changed then.
local fence = next_fence(name)
redis.call('DEL', key('lock', name), key('readers', name))
for _, lock_id in ipairs(lock_ids) do
    redis.call('DEL', key('id', lock_id))
end
wake(name, NOBODY)
return { live, fence or 0 }
