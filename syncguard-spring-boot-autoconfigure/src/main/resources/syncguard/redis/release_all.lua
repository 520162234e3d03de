-- Ends the leases and deletes the queue entries with these lock ids. Answers each in the order of the request, as
-- release.lua does. It wakes waiters once for each key, and never hands over.

-- include leases
-- include queue
-- include wake_ups

-- By name, for those behind: the earliest arrival that left, and whether only readers left. A lease has no arrival.
local changes = {}

local function note_change(name, arrival, shared)
    local change = changes[name] or { arrival = math.huge, shared = true }
    changes[name] = { arrival = math.min(change.arrival, arrival), shared = change.shared and shared }
end

local function release_one(lock_id)
    local outcome, name = end_lease(lock_id)
    if outcome == 'released' then
        note_change(name, math.huge, true)
    end
    if outcome ~= 'not_found' then
        return outcome
    end
    local left = leave_queue(lock_id)
    if not left then
        return 'not_found'
    end
    note_change(left.name, left.arrival, left.shared)
    return 'left'
end

local answers = {}
for i, lock_id in ipairs(ARGV) do
    answers[i] = release_one(lock_id)
end
for name, change in pairs(changes) do
    wake_behind(name, change)
end
return answers
