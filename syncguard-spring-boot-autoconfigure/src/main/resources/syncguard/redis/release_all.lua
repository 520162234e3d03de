-- Ends what has these lock ids, as release.lua does, and answers each of them in the order asked. It wakes, once for each key, and
-- never hands over.

-- include leases
-- include queue

-- By name: the first place that was given up, and whether only readers gave one up.
local changed = {}

local function end_lease(lock_id, set, name)
    redis.call('ZREM', set, lock_id)
    redis.call('DEL', key('id', lock_id))
    changed[name] = changed[name] or {}
    return 'released'
end

local function leave(lock_id)
    local id = redis.call('HMGET', key('id', lock_id), 'name', 'place')
    if not id[2] then
        return 'not_found'
    end
    redis.call('DEL', key('id', lock_id))
    if not remove_place(id[1], id[2]) then
        return 'not_found'
    end
    local place, change = read_place(id[2]), changed[id[1]] or {}
    change.after = earlier(change.after, place.arrival)
    change.shared = place.shared and change.shared ~= false
    changed[id[1]] = change
    return 'left'
end

local answers = {}
for i, lock_id in ipairs(ARGV) do
    local set, ends, name = lease_of(lock_id)
    if not set then
        answers[i] = leave(lock_id)
    elseif ends <= now - TOLERANCE then
        answers[i] = 'expired'
    else
        answers[i] = end_lease(lock_id, set, name)
    end
end
for name, change in pairs(changed) do
    wake(name, change.after, change.shared)
end
return answers
