-- Ends the leases and deletes the queue entries with these lock ids, which are the arguments from the second on.
-- Answers each in the order of the request, as release.lua does. It wakes waiters once for each key, and never hands
-- over.

-- include leases
-- include queue
-- include wake_ups

-- For each key: the keys of the lock, the earliest arrival that has left, and whether only readers without permits have
-- left.
local changes = {}

local function note_change(k, left)
    local change = changes[k.lock] or { k = k, arrival = math.huge, unlimited = true }
    change.arrival = math.min(change.arrival, tonumber(left.arrival) or 0)
    change.unlimited = change.unlimited and left.unlimited
    changes[k.lock] = change
end

local function release_one(k, lock_id)
    local lease, reason = find_lease(k, lock_id)
    if lease then
        delete_lease(k, lease)
        note_change(k, NOBODY)
        return 'released'
    end
    if reason == 'expired' then
        return reason
    end
    local left = leave_queue(k, lock_id)
    if not left then
        return 'not_found'
    end
    note_change(k, left)
    return 'left'
end

local answers = {}
for i = 2, #ARGV do
    answers[i - 1] = release_one(lock_keys(8 * i - 15), ARGV[i])
end
for _, change in pairs(changes) do
    wake(change.k, change)
end
return answers
