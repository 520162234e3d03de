-- Ends all leases of a lock at the request of an operator, draws a fence that is larger than theirs, and wakes waiters.
-- Answers how many live leases have ended, and the fence: 0 if the fence counter has reached its end.

-- include leases
-- include grants

local k = lock_keys(1)
local written = exclusive_lease(k)
local live = redis.call('ZCOUNT', k.readers, '(' .. text(now - TOLERANCE), '+inf')
    + (written and is_live(written) and 1 or 0)
if live == 0 then
    return { 0, 0 }
end

-- include queue
-- include wake_ups

-- Reading the counter fails if it is none: nothing has changed then.
has_fences(k)
-- First a command that Redis allows with full memory. It allows the rest of the script then: the next fence is drawn.
redis.call('DEL', k.lock, k.readers, k.shared)
local fence = next_fence(k)
wake(k, NOBODY)
return { live, fence or 0 }
