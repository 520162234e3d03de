-- Ends the lease with this lock id, and hands the key over or wakes waiters; or deletes the queue entry with this lock
-- id. Answers 'released', 'left', or why there is nothing to end: 'expired' or 'not_found'.

-- include leases
-- include releases

local lock_id = ARGV[1]

local outcome, name = end_lease(lock_id)
if outcome == 'expired' or outcome == 'released' and redis.call('EXISTS', key('queue', name)) == 0 then
    return outcome
end

-- include queue
-- include wake_ups

if outcome == 'not_found' then
    local left = leave_queue(lock_id)
    if not left then
        return 'not_found'
    end
    wake(left.name, left)
    return 'left'
end

-- include grants

-- The first entry in the queue; nil if there is none. A dead waiter must neither be handed the key nor keep it from
-- others.
local function first_live_entry()
    local first = redis.call('ZRANGE', key('queue', name), 0, 0)[1]
    if first and not is_live_entry(name, first) then
        delete_lapsed_entries(name)
        first = redis.call('ZRANGE', key('queue', name), 0, 0)[1]
    end
    return first
end

-- Grants the key to the first waiter and sends it the grant, if it is a writer that accepts a hand-over. Answers
-- whether.
local function hand_over()
    local first = first_live_entry()
    local entry = first and parse_entry(first)
    if not entry or entry.shared then
        return false
    end
    -- Beside a reader a writer must not enter.
    delete_lapsed_leases(name)
    if redis.call('EXISTS', key('readers', name)) == 1 then
        return false
    end
    local id = redis.call('HMGET', key('id', entry.lock_id), 'waiter_ttl', 'user_key', 'owner', 'secret')
    local fence = id[1] and next_fence(name)
    if not fence then
        return false
    end
    delete_entry(name, first)
    redis.call('DEL', key('id', entry.lock_id))
    local lease = { name = name, mode = entry.mode, lock_id = entry.lock_id, user_key = id[2], owner = id[3] }
    local expires_at = write_grant(lease, fence, id[1])
    -- The secret proves that a release has sent this: others may be able to publish on the channel.
    publish(entry, table.concat({ entry.waiter, id[4], text(fence), text(now), text(expires_at) }, ' '))
    return true
end

if not hand_over() then
    wake(name, NOBODY)
end
return outcome
