-- The keys and the words of all scripts, the clock, and the leases.
--
-- A lease is a lock that somebody holds: exclusive (of a writer) or shared (of a reader). A fence is a number that
-- grows with each grant of a key. A waiter is a caller with an entry in the queue. A request with five permits is
-- granted while there are fewer than five shared leases; one without permits ("unlimited") waits for no other reader,
-- and a writer waits for all. A hand-over is a release that grants the key to the first waiter. A wake-up tells a
-- waiter to look again.
--
-- Redis runs one script at a time: what a script has read is still true when it writes. Between two scripts anything
-- may happen: another script, an expiry, a lost key, a failover. A script that fails keeps what it has written so far.
--
-- Lua makes each function again in each run. So a script includes this part behind its most frequent answer. A line
-- '-- include x' stands for the text of x.lua, once in each script.
--
-- KEYS has these for each lock id of the request, in this order. A script touches no other key. A script about all
-- leases of a lock has no id. While a cluster moves their slot, a node refuses a script with several keys that it has
-- only in part; a script with one key would be redirected to a node without the leases, which would grant the key.
--
--   1 lock      a text: the exclusive lease
--   2 fence     a text: the fence counter. NEVER delete it: a fence must not be used twice
--   3 readers   a sorted set: the lock ids of the shared leases by expiry
--   4 queue     a sorted set: the lock ids of the queue entries by arrival
--   5 shared    a hash by lock id: what else a shared lease is made of
--   6 waiting   a sorted set: the lock ids of the queue entries by expiry, those of readers behind those of writers
--   7 waiters   a hash by lock id: what else a queue entry is made of
--   8 id        a text: the key for which the lock id is. Its own caller alone writes it
--
-- The exclusive lease is '-' or '+', lock id, end of its tolerance, start, fence and label, divided by spaces. If there
-- is a queue, it begins with '+', so a release need not look for one.
--
-- The first argument of every script says for how many milliseconds an idle counter is kept, if fences come from the
-- clock. It is empty if they come from counters, which are kept for ever.
--
-- A lease is live until one tolerance after its expiry, a queue entry until its expiry. After that it has lapsed. These
-- numbers decide. Redis shows a key until the millisecond that is its expiry is over, and reads another clock than TIME
-- does, so an existing key proves nothing (release_alone.lua has the one exception). A missing key is a lease or an
-- entry that has ended.
--
-- By the clock, a fence is at least a hundred times its milliseconds, or LAST_BY_CLOCK, in the year 2226.
--
-- Numbers and scores are doubles, exact up to 2^53. Redis writes a number that is passed to a command with 17 digits,
-- tostring() with 14. A text costs less, so the frequent commands get '0'.

-- include clock

local RETENTION = tonumber(ARGV[1]) or math.huge

local FENCES_PER_MILLI = 100
local LAST_BY_CLOCK = 810000000000000

-- How many members one command gets: Lua cannot pass on many thousands.
local BATCH = 1000

local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function text(number)
    return string.format('%.0f', number)
end

-- Returns the keys of a lock and a lock id; the first of them is KEYS[first].
local function lock_keys(first)
    local lock, fence, readers, queue, shared, waiting, waiters, id = unpack(KEYS, first, first + 7)
    return {
        lock = lock, fence = fence, readers = readers, queue = queue, shared = shared, waiting = waiting,
        waiters = waiters, id = id
    }
end

-- Calls a command in parts that Lua can pass on.
local function call_in_parts(command, key, members)
    for from = 1, #members, BATCH do
        redis.call(command, key, unpack(members, from, math.min(from + BATCH - 1, #members)))
    end
end

local function is_live(lease)
    return lease.expires_at > now - TOLERANCE
end

-- Returns the last score in the set, or the nth from the end; 0 if the set has fewer.
local function last_score(set, n)
    local rank = n and n - 1 or '0'
    return tonumber(redis.call('ZREVRANGE', set, rank, rank, 'WITHSCORES')[2]) or 0
end

-- Returns the exclusive lease, which may have lapsed, or nil if there is none. The caller may know its text already.
local function exclusive_lease(k, known_value)
    local value = known_value or redis.call('GET', k.lock)
    if not value then
        return nil
    end
    local mark, lock_id, over, start, fence, label = string.match(value, '^([-+])(%S+) (%d+) (%d+) (%d+) (.*)$')
    if not mark then
        error('WRONGTYPE The key of a lock has a value that is not a lease', 0)
    end
    return {
        value = value, mark = mark, lock_id = lock_id, expires_at = over - TOLERANCE, start = start, fence = fence,
        label = label
    }
end

-- Returns the shared lease with this lock id and expiry. It has neither start nor fence if Redis has lost them.
local function reader_of(k, lock_id, expires_at)
    local start, fence, label = string.match(redis.call('HGET', k.shared, lock_id) or '', '^(%d+) (%d+) (.*)$')
    return {
        lock_id = lock_id, shared = true, expires_at = tonumber(expires_at), start = start, fence = fence, label = label
    }
end

-- Returns the live lease with this lock id. If there is none, it returns nil and 'not_found', or nil, 'expired' and
-- whether the lapsed lease was shared. The caller may know the exclusive lease already: false if there is none.
local function find_lease(k, lock_id, written)
    local lease = written
    if written == nil then
        lease = exclusive_lease(k)
    end
    if not lease or lease.lock_id ~= lock_id then
        local expires_at = redis.call('ZSCORE', k.readers, lock_id)
        if not expires_at then
            return nil, 'not_found'
        end
        lease = reader_of(k, lock_id, expires_at)
    end
    if not is_live(lease) then
        return nil, 'expired', lease.shared
    end
    return lease
end

-- Moves the expiry of the fence counter to one retention after this last expiry of the leases, if it is earlier. The
-- last fence was drawn at drawn_at or later, and has set an expiry of the counter that is nearly always late enough.
local function keep_counter(k, last, drawn_at)
    if last + TOLERANCE > drawn_at + RETENTION then
        local fence = tonumber(redis.call('GET', k.fence) or 0)
        if fence < LAST_BY_CLOCK then
            redis.call('PEXPIREAT', k.fence, text(math.max(fence / FENCES_PER_MILLI, last) + RETENTION))
        end
    end
end

-- Writes start, fence and label of a shared lease.
local function write_reader(k, lease)
    redis.call('HSET', k.shared, lease.lock_id, lease.start .. ' ' .. lease.fence .. ' ' .. lease.label)
end

-- Writes the expiry of a lease; an exclusive lease is one text, so all of it is written.
local function write_lease(k, lease)
    local last = lease.expires_at
    if lease.shared then
        redis.call('ZADD', k.readers, text(lease.expires_at), lease.lock_id)
        -- Readers share a set, which has to outlive the last of them.
        last = last_score(k.readers)
        local over = text(last + TOLERANCE)
        redis.call('PEXPIREAT', k.readers, over)
        redis.call('PEXPIREAT', k.shared, over)
    else
        local over = text(last + TOLERANCE)
        redis.call(
            'SET', k.lock, table.concat(
                { lease.mark .. lease.lock_id, over, lease.start, lease.fence, lease.label }, ' '),
            'PXAT', over)
    end
    keep_counter(k, last, tonumber(lease.start) or now)
end

-- Gives a lease this expiry.
local function extend_lease(k, lease, expires_at)
    lease.expires_at = expires_at
    -- The first write is a command that Redis allows with full memory. It allows the rest of the script then: a holder
    -- can extend.
    redis.call('PEXPIREAT', k.id, text(expires_at + TOLERANCE))
    write_lease(k, lease)
end

-- Deletes a lease, and the note for which key its lock id is.
local function delete_lease(k, lease)
    if lease.shared then
        redis.call('DEL', k.id)
        redis.call('ZREM', k.readers, lease.lock_id)
        redis.call('HDEL', k.shared, lease.lock_id)
    else
        redis.call('DEL', k.lock, k.id)
    end
end
