-- The expiries of queue entries, and of what a queue is made of. If one part of it were removed earlier than the
-- others, a dead reader in front of writers would lose the expiry by which it is found, stay first, and keep those
-- behind it from being woken.

-- The expiry of a reader's entry without permits stands this much later in the set. All others conflict with
-- everybody.
local READERS = 4000000000000000

-- Keeps all parts as long as an entry that has this ttl from now on; twice as long, so that the next entries need not
-- set it again. A part that Redis has evicted and that is new has no expiry.
local function keep_queue(queue, waiting, waiters, now, waiter_ttl)
    if redis.call('PTTL', queue) < waiter_ttl or redis.call('PTTL', waiting) < waiter_ttl
        or redis.call('PTTL', waiters) < waiter_ttl
    then
        local last = string.format('%.0f', now + 2 * waiter_ttl)
        redis.call('PEXPIREAT', queue, last)
        redis.call('PEXPIREAT', waiting, last)
        redis.call('PEXPIREAT', waiters, last)
    end
end
