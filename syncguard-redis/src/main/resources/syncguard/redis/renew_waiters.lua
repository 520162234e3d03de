-- Renews queue entries. The arguments are the waiter ttl and the lock ids. Answers each in the order of the request: in
-- how many milliseconds it is worth to try again; 0 for a waiter who can be granted the key now, or whose entry is
-- lost.

-- include leases
-- include queue
-- include waits

local waiter_ttl = tonumber(ARGV[1])

-- The live entries of a key with their expiries.
local function live_expiries(name)
    local expiries = {}
    for _, family in pairs(ENTRIES) do
        local live = live_entries(key(family, name))
        for i = 1, #live, 2 do
            expiries[live[i]] = tonumber(live[i + 1])
        end
    end
    return expiries
end

-- Notes for each entry of a key when it is worth to try again: when the first conflicting lease is over, or the first
-- conflicting entry in front lapses. It goes through the queue once, however many ask.
local function note_next_looks(name, looks)
    local expiries = live_expiries(name)
    local written, read = first_lapse(key('lock', name)), first_lapse(key('readers', name))
    local first_writer, first_entry = math.huge, math.huge -- the first expiries in front
    for _, entry in ipairs(redis.call('ZRANGE', key('queue', name), 0, -1)) do
        local expires_at = expiries[entry]
        if expires_at and parse_entry(entry).shared then
            looks[entry] = math.min(written, first_writer)
            first_entry = math.min(first_entry, expires_at)
        elseif expires_at then
            looks[entry] = math.min(written, read, first_entry)
            first_writer = math.min(first_writer, expires_at)
            first_entry = math.min(first_entry, expires_at)
        end
    end
end

-- A lost entry is not renewed: it would come back in front of those who arrived later.
local entries, names, looks = {}, {}, {}
for i = 2, #ARGV do
    local id = redis.call('HMGET', key('id', ARGV[i]), 'name', 'entry')
    local name, entry = id[1], id[2]
    if entry and is_live_entry(name, entry) then
        renew_entry(name, entry, now + waiter_ttl)
        entries[ARGV[i]] = entry
        names[name] = true
    end
end
-- When all are renewed: each look depends on the expiries of those in front.
for name in pairs(names) do
    note_next_looks(name, looks)
end

local answers = {}
for i = 2, #ARGV do
    local look = looks[entries[ARGV[i]] or ''] or math.huge
    table.insert(answers, look < math.huge and look - now or 0)
end
return answers
