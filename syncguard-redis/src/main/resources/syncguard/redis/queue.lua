-- The entries of a queue. Needs leases.lua.

-- include queue_expiry

-- A live entry must have all three parts: Redis evicts or loses keys one by one, and a dead waiter's entry stays in the
-- queue until somebody deletes it.
local function is_live_entry(entry)
    return entry.expires_at > now and entry.arrival and entry.mode
end

-- Returns the score of an expiry; read_score returns what a score stands for.
local function score_of(unlimited, expires_at)
    return text(unlimited and expires_at + READERS or expires_at)
end

local function read_score(score)
    local number = tonumber(score) or 0
    local unlimited = number >= READERS
    return unlimited, unlimited and number - READERS or number
end

-- Parses the text of an entry: mode and number of permits, arrival time, number of the waiter, waiter ttl (of the
-- entry, and of the lease that a hand-over makes of it), secret (or '-'), the channel of its process, and its label.
local function parse_waiter(value)
    local mode, permits, arrived_at, waiter, waiter_ttl, secret, length, rest =
        string.match(value or '', '^(%u+)(%d*) (%d+) (%d+) (%d+) (%S+) (%d+) (.*)$')
    local shared = mode == 'SHARED'
    return {
        mode = mode, shared = shared, permits = tonumber(permits), unlimited = shared and permits == '',
        arrived_at = arrived_at, waiter = waiter, waiter_ttl = waiter_ttl, secret = secret,
        channel = mode and string.sub(rest, 1, length), label = mode and string.sub(rest, length + 1)
    }
end

-- Returns the entry of a lock id, which may have lapsed, or nil if there is none. The caller may know its arrival
-- already.
local function entry_of(k, lock_id, known_arrival)
    local arrival = known_arrival or redis.call('ZSCORE', k.queue, lock_id)
    local score = redis.call('ZSCORE', k.waiting, lock_id)
    if not arrival and not score then
        return nil
    end
    local entry = parse_waiter(redis.call('HGET', k.waiters, lock_id))
    entry.lock_id, entry.arrival = lock_id, arrival
    entry.unlimited, entry.expires_at = read_score(score)
    return entry
end

-- Returns within how many milliseconds the waiter of an entry looks again, even without a wake-up.
local function poll_of(entry)
    return math.floor((entry.waiter_ttl or 0) / 3)
end

local function delete_entry(k, lock_id)
    redis.call('ZREM', k.queue, lock_id)
    redis.call('ZREM', k.waiting, lock_id)
    redis.call('HDEL', k.waiters, lock_id)
end

local function delete_lapsed_entries(k)
    for _, base in ipairs({ 0, READERS }) do
        local lapsed = redis.call('ZRANGEBYSCORE', k.waiting, text(base), text(base + now))
        if #lapsed > 0 then
            call_in_parts('ZREM', k.queue, lapsed)
            call_in_parts('HDEL', k.waiters, lapsed)
            call_in_parts('ZREM', k.waiting, lapsed)
        end
    end
end

-- Deletes the entry with this lock id, without wake-ups. Returns the entry, or nil if there was none.
local function leave_queue(k, lock_id)
    local entry = entry_of(k, lock_id)
    if entry then
        redis.call('DEL', k.id)
        delete_entry(k, lock_id)
    end
    return entry
end
