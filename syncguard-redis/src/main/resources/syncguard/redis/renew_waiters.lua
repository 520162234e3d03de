-- Renews queue entries. The arguments from the second on are the waiter ttl and the lock ids. Answers each in the order
-- of the request: in how many milliseconds it is worth trying again; 0 for a waiter that can be granted the key now, or
-- whose entry is lost.

-- include leases
-- include queue
-- include waits

local waiter_ttl = tonumber(ARGV[2])

-- A lost entry is not renewed: it would come back in front of those who arrived later.
local locks, renewed = {}, {}
for i = 3, #ARGV do
    local k, lock_id = lock_keys(8 * i - 23), ARGV[i]
    local entry = entry_of(k, lock_id)
    if entry and is_live_entry(entry) then
        -- The first write is a command that Redis allows with full memory. It allows the rest of the script then: a
        -- waiter can renew.
        redis.call('PEXPIREAT', k.id, text(now + 2 * waiter_ttl + TOLERANCE))
        renew_entry(k, lock_id, entry.unlimited, now + waiter_ttl)
        renewed[lock_id] = entry
        locks[k.lock] = k
    end
end

-- Notes for each entry of a key when it is worth trying again: when the first conflicting lease is over, or the first
-- conflicting entry in front lapses. It goes through the queue once, however many ask. The entries are renewed by then:
-- each look depends on the expiries of those in front.
local looks = {}
for _, k in pairs(locks) do
    keep_queue(k.queue, k.waiting, k.waiters, now, waiter_ttl)
    local live = live_entries(k)
    local written = first_lapse(exclusive_lease(k))
    local reader = first_reader_lapse(k)
    -- reads has, for each number of permits that those in front leave, the time at which the first reader lapses, if
    -- there are as many readers. They take one each if the first of them can be granted the key. A writer is like one
    -- permit.
    local reads, taken, first_takes = {}, 0, nil
    local first_limited, first_entry = math.huge, math.huge -- the first expiries in front
    for _, lock_id in ipairs(redis.call('ZRANGE', k.queue, 0, -1)) do
        local entry = live[lock_id]
        if entry and entry.unlimited then
            looks[lock_id] = math.min(written, first_limited)
        elseif entry then
            local permits = (renewed[lock_id] and renewed[lock_id].permits or 1) - taken
            reads[permits] = reads[permits] or is_full(k, permits) and reader or math.huge
            looks[lock_id] = math.min(written, reads[permits], first_entry)
            first_limited = math.min(first_limited, entry.expires_at)
        end
        if entry then
            first_entry = math.min(first_entry, entry.expires_at)
            if first_takes == nil then
                first_takes = has_room(k, lock_id, entry.unlimited)
            end
            taken = taken + (first_takes and 1 or 0)
        end
    end
end

local answers = {}
for i = 3, #ARGV do
    local look = renewed[ARGV[i]] and looks[ARGV[i]] or math.huge
    table.insert(answers, look < math.huge and look - now or 0)
end
return answers
