-- Fence counters and grants. Needs leases.lua.

local LAST_FENCE = 900000000000000

-- Fences are kept as text of 15 digits, which sorts as the numbers do.
local FENCE_FORMAT = '%015.0f'

-- Whether the fence counter of the key has not reached its end. Asked before anything is written.
local function has_fences(name)
    return tonumber(redis.call('GET', key('fence', name)) or 0) < LAST_FENCE
end

-- The next fence of the key; nil if the counter has reached its end, where it stays. A grant writes it before
-- everything else: with full memory Redis refuses it, and nothing has changed. Every fence is drawn here.
--
-- By the clock it is at least the clock in steps of ten microseconds, so it is also larger than the fences that a lost
-- counter has given in earlier steps. The counter expires one retention after the time that its fence stands for.
-- The clock alone gives no larger fence than LAST_BY_CLOCK: a clock that stood far in the future leaves fences for the
-- time when it is right again. From there on the counter alone makes fences grow, and never expires.
local function next_fence(name)
    local counter = key('fence', name)
    local last = tonumber(redis.call('GET', counter) or 0)
    if last >= LAST_FENCE then
        return nil
    end
    if RETENTION == math.huge then
        redis.call('SET', counter, text(last + 1))
        return last + 1
    end
    local clock = time[1] * 1000 * FENCES_PER_MILLI + math.floor(time[2] * FENCES_PER_MILLI / 1000)
    local fence = math.max(last + 1, math.min(clock, LAST_BY_CLOCK))
    if fence < LAST_BY_CLOCK then
        redis.call('SET', counter, text(fence), 'PXAT', text(fence / FENCES_PER_MILLI + RETENTION))
    else
        redis.call('SET', counter, text(fence))
    end
    return fence
end

-- Writes a lease: what its lock id stands for, then its expiry.
local function write_lease(lease, expires_at)
    redis.call(
        'HSET', key('id', lease.lock_id), 'name', lease.name, 'mode', lease.mode, 'acquired_at_ms', lease.acquired_at,
        'fence', lease.fence, 'user_key', lease.user_key, 'owner', lease.owner)
    extend_lease(lease, expires_at)
end

-- Writes a lease that begins now with this fence, and answers its expiry.
local function write_grant(lease, fence, ttl)
    lease.acquired_at, lease.fence = now, string.format(FENCE_FORMAT, fence)
    local expires_at = now + ttl
    write_lease(lease, expires_at)
    return expires_at
end
