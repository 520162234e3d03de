-- Wake-ups. Needs queue.lua. A script publishes after it has made way: whoever looks then finds the way free.

local function has_live_lease(set)
    local last = last_expiry(set)
    return last ~= nil and last > now - TOLERANCE
end

local function publish(entry, message)
    -- By pcall: a user without the right to this channel must not make a release by others fail.
    redis.pcall('PUBLISH', entry.channel, message)
end

-- Wakes the waiters at the front of the queue for whom has_to_look(entry, is_first) is true. The front is the readers
-- who are first, and the writer behind them: nobody behind that writer can be granted the key.
local function wake_front(name, has_to_look)
    -- First, so that a dead waiter is not woken in place of the live one behind it.
    delete_lapsed_entries(name)
    local from = 0
    repeat
        local entries = redis.call('ZRANGE', key('queue', name), from, from + 99)
        for i, each in ipairs(entries) do
            local entry = parse_entry(each)
            if has_to_look(entry, from + i == 1) then
                publish(entry, entry.waiter)
            end
            if not entry.shared then
                return
            end
        end
        from = from + #entries
    until #entries == 0
end

-- Whether no live lease conflicts with an entry, as a function of the entry and of whether it is first.
local function conflict_check(name)
    local written = has_live_lease(key('lock', name))
    local read = has_live_lease(key('readers', name))
    return function(entry, is_first)
        return not written and (entry.shared or is_first and not read)
    end
end

-- After a release: wakes the waiters who can be granted the key now.
local function wake_grantable(name)
    wake_front(name, conflict_check(name))
end

-- After an entry has left: wakes them, and the first waiters behind it who conflict with it, whatever leases there are.
-- They knew when to look again from the entry in front of them. Readers do not wait for each other.
local function wake_behind(name, left)
    local is_grantable = conflict_check(name)
    wake_front(name, function(entry, is_first)
        local waited_for_it = entry.arrival > left.arrival and not (entry.shared and left.shared)
        return is_grantable(entry, is_first) or waited_for_it and (entry.shared or is_first)
    end)
end

-- After a lease got an earlier expiry: wakes all at the front, who know the later one. That includes the writer behind
-- readers: they may leave without a wake-up.
local function wake_whole_front(name)
    wake_front(name, function()
        return true
    end)
end
