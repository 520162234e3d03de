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
local found, reason = find_lease(k, lock_id)
if reason == 'expired' then
    return reason
end
if found then
    delete_lease(k, found)
    if redis.call('EXISTS', k.queue) == 0 then
        return 'released'
    end
end

-- include queue
-- include wake_ups

if not found then
    local left = leave_queue(k, lock_id)
    if not left then
        return 'not_found'
    end
    wake(k, left)
    return 'left'
end

-- include grants

-- The first entry in the queue; nil if there is none. A dead waiter must neither be handed the key nor keep it from
-- others.
local function first_live_entry()
    local swept = false
    repeat
        local first = redis.call('ZRANGE', k.queue, 0, 0)[1]
        local entry = first and entry_of(k, first)
        if not entry or is_live_entry(entry) then
            return entry
        end
        if swept then
            delete_entry(k, first)
        end
        delete_lapsed_entries(k)
        swept = true
    until false
end

-- Grants the key to the first waiter, if it is a writer that accepts a hand-over. Answers the entry and the lease.
local function hand_over()
    local entry = first_live_entry()
    if not entry or entry.shared or entry.secret == '-' then
        return nil
    end
    -- Beside a reader a writer must not enter.
    if delete_lapsed_readers(k) then
        return nil
    end
    local fence = next_fence(k)
    if not fence then
        return nil
    end
    delete_entry(k, entry.lock_id)
    local mark = redis.call('EXISTS', k.queue) == 1 and '+' or '-'
    local granted = { lock_id = entry.lock_id, mark = mark, label = entry.label }
    write_grant(k, granted, fence, entry.waiter_ttl)
    return entry, granted
end

local entry, granted = hand_over()
if not entry then
    wake(k, NOBODY)
    return 'released'
end
if entry.channel == ARGV[3] then
    return { 'released', entry.waiter, granted.fence, granted.start, text(granted.expires_at) }
end
-- The secret proves that a release has sent this: others may be able to publish on the channel.
publish(
    entry, table.concat(
        { entry.waiter, entry.secret, text(tonumber(granted.fence)), granted.start, text(granted.expires_at) }, ' '))
return 'released'
