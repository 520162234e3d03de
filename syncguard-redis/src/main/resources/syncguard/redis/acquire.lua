-- One attempt to acquire a key. Answers one of
--
--   'granted', fence, start, and end of the tolerance, in one text and divided by spaces; behind them 'again' if the
--       caller had this lease already: others with a shared lease may have got larger fences since
--   'refused', milliseconds until the key may become free, holder
--   'queued', milliseconds until it is worth trying again, holder
--   'no_fences': the fence counter has reached its end, and nothing was written
--
-- The holder is for messages: owner, start of the lease, and whether others hold the key with it (1 or 0). Of several
-- readers it is the one whose lease expires last. It is left out if only waiters are in the way.
--
-- The arguments: for how long the counter is kept, lock id, mode (with the number of permits behind it, if there is
-- one), sum of ttl and tolerance, label, user key; and what a queue entry says of the waiter, from its number to its
-- channel, as in parse_waiter of queue.lua.
-- The last one is empty if the caller does not wait: its queue entry is deleted if it has one. Otherwise the entry is
-- renewed or made, and if it has a secret, a release may hand the key over to it.
--
-- Three parts answer, and the first one that can does: grant_free.lua grants most keys, enter_queue.lua queues most
-- waiters, and acquire_in_full.lua answers all other requests. Read leases.lua first: it has the keys and the words.

-- include clock
-- include clock_texts
-- include grant_free

local free = grant_free(0, 0, false)
if free then
    return free
end

-- include queue_expiry
-- include enter_queue

local queued = enter_queue(0, 0)
if queued then
    return queued
end

local looks = false

-- include acquire_in_full
