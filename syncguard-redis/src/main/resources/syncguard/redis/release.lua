-- Ends the lease with this lock id, and hands the key over or wakes waiters; or deletes the queue entry with this lock
-- id. Answers 'released', 'left', or why there is nothing to end: 'expired' or 'not_found'; or, if the key was handed
-- over to a waiter of the caller's process, 'released' with number of the waiter, fence, start and expiry.
--
-- The arguments: for how long the counter is kept, lock id, and the channel of the caller's process (empty if it has
-- none).

-- Most exclusive leases end in time, and nobody waits for them. PTTL compares the end of the tolerance with the clock
-- as TIME does, and costs less. It is negative if the key has lost its expiry.
local lease = redis.call('GET', KEYS[1])
if lease and string.sub(lease, 1, 24) == '-' .. ARGV[2] .. ' ' and redis.call('PTTL', KEYS[1]) > 0 then
    redis.call('DEL', KEYS[1], KEYS[8])
    return 'released'
end

-- include leases

local k, lock_id = lock_keys(1), ARGV[2]
local found, reason = find_lease(k, lock_id, lease and exclusive_lease(k, lease))
if reason == 'expired' then
    return reason
end
if found then
    delete_lease(k, found)
end

-- include queue

-- The first entry in the queue, which may have lapsed, and whether there are others; nil if there is none.
local function first_entry()
    local first = redis.call('ZRANGE', k.queue, 0, 1, 'WITHSCORES')
    return first[1] and entry_of(k, first[1], first[2]), first[3] ~= nil
end

-- The first that is live: a dead waiter must neither be handed the key nor keep it from others.
local function first_live_entry()
    local entry, others = first_entry()
    if entry and not is_live_entry(entry) then
        delete_lapsed_entries(k)
        entry, others = first_entry()
    end
    while entry and not is_live_entry(entry) do
        delete_entry(k, entry.lock_id)
        entry, others = first_entry()
    end
    return entry, others
end

local entry, others
if found then
    entry, others = first_live_entry()
    if not entry then
        return 'released'
    end
end

-- The secret proves that a release has sent a hand-over: others may be able to publish on the channel.
if entry and not entry.shared and entry.secret ~= '-' then

-- include grants

    -- Beside a reader a writer must not enter.
    local fence = not delete_lapsed_readers(k) and next_fence(k)
    if fence then
        delete_entry(k, entry.lock_id)
        local grant = { lock_id = entry.lock_id, mark = others and '+' or '-', label = entry.label }
        write_grant(k, grant, fence, entry.waiter_ttl)
        if entry.channel == ARGV[3] then
            return { 'released', entry.waiter, grant.fence, grant.start, text(grant.expires_at) }
        end
        redis.pcall(
            'PUBLISH', entry.channel, table.concat(
                { entry.waiter, entry.secret, text(fence), grant.start, text(grant.expires_at) }, ' '))
        return 'released'
    end
end

-- include wake_ups

if found then
    wake(k, NOBODY)
    return 'released'
end
local left = leave_queue(k, lock_id)
if not left then
    return 'not_found'
end
wake(k, left)
return 'left'
