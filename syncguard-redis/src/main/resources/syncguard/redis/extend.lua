-- Extends many leases. The arguments from the second on are lock ids, each followed by its ttl. Answers each in the
-- order of the request: the new expiry, or 'expired' or 'not_found'.

-- include leases

local answers, shortened = {}, {}

for i = 2, #ARGV, 2 do
    local k = lock_keys(4 * i - 7)
    local lease, reason = find_lease(k, ARGV[i])
    local before, expires_at = lease and lease.expires_at, now + ARGV[i + 1]
    if lease then
        extend_lease(k, lease, expires_at)
    end
    if lease and expires_at < before then
        shortened[k.lock] = k
    end
    table.insert(answers, lease and expires_at or reason)
end

-- The queue is read only if a lease ends earlier: no heartbeat goes through it.
if not next(shortened) then
    return answers
end

-- include queue
-- include wake_ups

for _, k in pairs(shortened) do
    if redis.call('EXISTS', k.queue) == 1 then
        wake(k, WRITER_BEFORE_ALL)
    end
end
return answers
