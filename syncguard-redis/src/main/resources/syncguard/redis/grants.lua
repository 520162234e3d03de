-- Fence counters and grants. Needs leases.lua.

-- include clock_texts

local LAST_FENCE = 900000000000000

-- How many waiters one release hands a key over to.
local MAX_HAND_OVERS = 64

-- Fences are kept as text of 15 digits, which sorts as the numbers do.
local FENCE_FORMAT = '%015.0f'

-- Tells whether the fence counter has not reached its end. A script asks before it writes anything.
local function has_fences(k)
    return tonumber(redis.call('GET', k.fence) or 0) < LAST_FENCE
end

-- Draws the next fence of the lock, and returns it; or nil if the counter has reached its end, where it stays. A grant
-- writes the counter before everything else: with full memory Redis refuses it, and nothing has changed.
--
-- By the clock, a fence is at least the clock in steps of ten microseconds, so it is also larger than the fences that a
-- lost counter has given in earlier steps. The counter expires one retention after the time that its fence stands for.
-- The clock alone gives no larger fence than LAST_BY_CLOCK: a clock that stood far in the future leaves fences for the
-- time when it is right again. From there on the counter alone makes fences grow, and never expires.
local function next_fence(k)
    if RETENTION < math.huge and draw_clock_fence(k.fence, ARGV[1]) then
        return tonumber(clock_fence)
    end
    local last = tonumber(redis.call('GET', k.fence) or 0)
    if last >= LAST_FENCE then
        return nil
    end
    if RETENTION == math.huge then
        -- This counter has no expiry: a counter from which processes count on must stay.
        redis.call('SET', k.fence, text(last + 1))
        return last + 1
    end
    local fence = math.max(last + 1, math.min(tonumber(clock_fence), LAST_BY_CLOCK))
    if fence < LAST_BY_CLOCK then
        redis.call('SET', k.fence, text(fence), 'PXAT', text(fence / FENCES_PER_MILLI + RETENTION))
    else
        redis.call('SET', k.fence, text(fence))
    end
    return fence
end

-- Writes a lease that begins now with this fence.
local function write_grant(k, lease, fence, ttl)
    lease.start, lease.fence, lease.expires_at = text(now), string.format(FENCE_FORMAT, fence), now + ttl
    if lease.shared then
        write_reader(k, lease)
    end
    write_lease(k, lease)
end

-- Deletes the readers that have lapsed. A grant never passes them over: when the clock steps back, as in a failover, an
-- extension would revive a lapsed lease beside the new one.
local function delete_lapsed_readers(k)
    local lapsed = redis.call('ZRANGEBYSCORE', k.readers, '-inf', text(now - TOLERANCE))
    if #lapsed > 0 then
        call_in_parts('HDEL', k.shared, lapsed)
        call_in_parts('ZREM', k.readers, lapsed)
    end
end

-- Tells whether so few shared leases are left that a request with these permits is granted; without permits, whether an
-- exclusive lease is. Lapsed leases count until they are in the way: then they are deleted.
local function make_room(k, permits)
    local read_until = last_score(k.readers, permits)
    if read_until > now - TOLERANCE then
        return false
    end
    if read_until > 0 then
        delete_lapsed_readers(k)
    end
    return true
end
