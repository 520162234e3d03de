-- Ends the leases of a lock at the request of an operator, draws a fence that is larger than theirs, and wakes waiters.
-- The second argument is the fence of the only lease to end; empty for all. Answers the fence, or 0 without a lease
-- that has ended or a fence that is left, the live leases that have ended, and the others, as lookup.lua.

-- include leases
-- include grants
-- include live_leases

local k, only = lock_keys(1), tonumber(ARGV[2])
local ended, left = {}, {}
for _, lease in ipairs(live_leases(k)) do
    local is_asked = not only or tonumber(lease[5]) == only
    table.insert(is_asked and ended or left, lease)
end
-- A reader of which Redis has lost a part has no fence, so no operator can have named it.
local is_held = #ended > 0 or not only
    and redis.call('ZCOUNT', k.readers, '(' .. text(now - TOLERANCE), '+inf') > 0
if not is_held then
    return { 0, ended, left }
end

-- include queue
-- include wake_ups

-- Reading the counter fails if it is none: nothing has changed then.
has_fences(k)
-- The first write is a command that Redis allows with full memory. It allows the rest of the script then: the next
-- fence is drawn.
if not only then
    redis.call('DEL', k.lock, k.readers, k.shared)
elseif ended[1][2] == 'EXCLUSIVE' then
    redis.call('DEL', k.lock)
else
    redis.call('ZREM', k.readers, ended[1][1])
    redis.call('HDEL', k.shared, ended[1][1])
end
local fence = next_fence(k)
wake(k, NOBODY)
return { fence or 0, ended, left }
