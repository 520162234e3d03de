-- Wake-ups. Needs queue.lua. A script publishes after it has made way: a waiter that looks then finds the way free.

-- What wake() gets in place of an entry that has left: nobody has left but a lease; or a lease has got an earlier
-- expiry, which has the effect of a writer that leaves from in front of all.
local NOBODY = { arrival = math.huge, shared = true }
local WRITER_BEFORE_ALL = { arrival = 0, shared = false }

-- Wakes waiters after an entry has left, as far as they are at the front of the queue: the readers who are first, and
-- the first writer. Nobody behind that writer can be granted the key.
local function wake(k, left)
    -- First, so that a dead waiter is not woken in place of the live one behind it.
    delete_lapsed_entries(k)
    local exclusive = exclusive_lease(k)
    local written = exclusive and is_live(exclusive)
    local read = last_score(k.readers) > now - TOLERANCE
    local left_at = tonumber(left.arrival) or 0
    local from, is_first = 0, true
    repeat
        local queue = redis.call('ZRANGE', k.queue, from, from + 99, 'WITHSCORES')
        local ids = {}
        for i = 1, #queue, 2 do
            table.insert(ids, queue[i])
        end
        local values = #ids > 0 and redis.call('HMGET', k.waiters, unpack(ids)) or {}
        for i, lock_id in ipairs(ids) do
            local entry = parse_waiter(values[i])
            -- Nobody waits behind an entry of which Redis has lost a part.
            if entry.mode then
                local is_grantable = not written and (entry.shared or is_first and not read)
                -- It knew from the entry that has left when to look, and perhaps only that entry knew of a lease with
                -- an earlier expiry. A writer behind readers has to look, too: they may be granted the key and leave
                -- without a wake-up.
                local looked_behind = tonumber(queue[2 * i]) > left_at
                    and (not left.shared or not entry.shared and is_first)
                if is_grantable or looked_behind then
                    -- By pcall: a user without the right to this channel must not make a release by others fail.
                    redis.pcall('PUBLISH', entry.channel, entry.waiter)
                end
                if not entry.shared then
                    return
                end
                is_first = false
            end
        end
        from = from + #ids
    until #ids == 0
end
