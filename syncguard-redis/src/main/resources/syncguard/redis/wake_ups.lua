-- Wake-ups. Needs queue.lua. A script publishes after it has made way: a waiter that looks then finds the way free.

-- What wake() gets in place of an entry that has left. NOBODY: a lease has ended, and no entry has left.
-- WRITER_BEFORE_ALL: a lease has got an earlier expiry, which has the effect of a writer that leaves from in front of
-- all.
local NOBODY = { arrival = math.huge, unlimited = true }
local WRITER_BEFORE_ALL = { arrival = 0, unlimited = false }

-- Wakes waiters after an entry or a lease has left, as far as they are at the front of the queue: the readers without
-- permits who are first, and the first of the others. Nobody behind that one can be granted the key before it. A lapse
-- that lets a waiter in before its next poll counts: the waiter may not know of that lease, because those in front of
-- it were granted it, or were told that it ends earlier.
--
-- live is a lock id that is known to have a live entry, or nil.
local function wake(k, left, live)
    -- Lapsed entries go first, so that a dead waiter is not woken in place of the live one behind it.
    delete_lapsed_entries(k)
    local exclusive = exclusive_lease(k)
    local written = exclusive and exclusive.expires_at or -math.huge
    local left_at = tonumber(left.arrival) or 0
    local from, is_first = 0, true
    repeat
        local queue = redis.call('ZRANGE', k.queue, from, from + 99, 'WITHSCORES')
        local ids = {}
        for i = 1, #queue, 2 do
            table.insert(ids, queue[i])
        end
        local values = #ids > 0 and redis.call('HMGET', k.waiters, unpack(ids)) or {}
        from = from + #ids
        for i, lock_id in ipairs(ids) do
            local entry = parse_waiter(values[i])
            -- Nobody waits behind an entry of which Redis has lost a part. One without an expiry would never lapse, and
            -- hide those behind it.
            local hides_others = entry.mode and lock_id ~= live and (is_first or not entry.unlimited)
            if hides_others and not redis.call('ZSCORE', k.waiting, lock_id) then
                delete_entry(k, lock_id)
                from = from - 1
            elseif entry.mode then
                local lapsed = now - TOLERANCE + poll_of(entry)
                local is_grantable = written <= lapsed
                    and (entry.unlimited or is_first and last_score(k.readers, entry.permits) <= lapsed)
                -- It knew from the entry that has left when to look, and perhaps only that entry knew of a lease with
                -- an earlier expiry. A writer behind readers has to look, too: they may be granted the key and leave
                -- without a wake-up.
                local looked_behind = tonumber(queue[2 * i]) > left_at
                    and (not left.unlimited or not entry.unlimited and is_first)
                if is_grantable or looked_behind then
                    -- It is a pcall, because a user without the right to this channel must not make a release by others
                    -- fail.
                    redis.pcall('PUBLISH', entry.channel, entry.waiter)
                end
                if not entry.unlimited then
                    return
                end
                is_first = false
            end
        end
    until #ids == 0
end
