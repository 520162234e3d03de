-- Wake-ups. Needs queue.lua. A script publishes after it has made way: a waiter that looks then finds the way free.

-- What wake() gets in place of an entry that has left: nobody has left but a lease; or a lease has got an earlier
-- expiry, which has the effect of a writer that leaves from in front of all.
local NOBODY = { arrival = math.huge, shared = true }
local WRITER_BEFORE_ALL = { arrival = 0, shared = false }

local function publish(entry, message)
    -- By pcall: a user without the right to this channel must not make a release by others fail.
    redis.pcall('PUBLISH', entry.channel, message)
end

-- Wakes waiters after an entry has left, as far as they are at the front of the queue: the readers who are first, and
-- the first writer. Nobody behind that writer can be granted the key.
local function wake(name, left)
    -- First, so that a dead waiter is not woken in place of the live one behind it.
    delete_lapsed_entries(name)
    local written = last_expiry(key('lock', name)) > now - TOLERANCE
    local read = last_expiry(key('readers', name)) > now - TOLERANCE
    local from = 0
    repeat
        local entries = redis.call('ZRANGE', key('queue', name), from, from + 99)
        for i, each in ipairs(entries) do
            local entry, is_first = parse_entry(each), from + i == 1
            local is_grantable = not written and (entry.shared or is_first and not read)
            -- It knew from the entry that has left when to look, and perhaps only that entry knew of a lease with an
            -- earlier expiry. A writer behind readers has to look, too: they may be granted the key and leave without a
            -- wake-up.
            local looked_behind = entry.arrival > left.arrival
                and (not left.shared or not entry.shared and is_first)
            if is_grantable or looked_behind then
                publish(entry, entry.waiter)
            end
            if not entry.shared then
                return
            end
        end
        from = from + #entries
    until #entries == 0
end
