-- Ends the leases and deletes the queue entries with these lock ids. Answers each in the order of the request, as
-- release.lua does. It wakes waiters once for each key, and never hands over.

-- include leases
-- include releases
-- include queue
-- include wake_ups

-- By name: the earliest arrival that has left, and whether only readers have.
local changes = {}

local function note_change(name, left)
    local change = changes[name] or NOBODY
    changes[name] = { arrival = math.min(change.arrival, left.arrival), shared = change.shared and left.shared }
end

local function release_one(lock_id)
    local outcome, name = end_lease(lock_id)
    if outcome == 'released' then
        note_change(name, NOBODY)
    end
    if outcome ~= 'not_found' then
        return outcome
    end
    local left = leave_queue(lock_id)
    if not left then
        return 'not_found'
    end
    note_change(left.name, left)
    return 'left'
end

local answers = {}
for i, lock_id in ipairs(ARGV) do
    answers[i] = release_one(lock_id)
end
for name, change in pairs(changes) do
    wake(name, change)
end
return answers
