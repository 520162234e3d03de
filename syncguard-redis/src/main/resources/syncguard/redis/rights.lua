-- Calls the commands that a free lock does not need, with no effect: a user without the right to one of them is told so
-- at the start, and not when the first caller waits.

local _, _, readers, queue, shared, waiting, waiters = unpack(KEYS)

redis.call('HGET', shared, '-')
redis.call('HMGET', waiters, '-')
redis.call('ZSCORE', waiting, '-')
redis.call('ZRANGE', queue, 0, 0)
redis.call('ZREVRANGE', queue, 0, 0)
redis.call('ZRANGEBYSCORE', waiting, 1, 0)
redis.call('ZREVRANGEBYSCORE', waiting, 0, 1)
redis.call('ZCOUNT', waiting, 1, 0)
redis.call('ZREM', queue, '-')
redis.call('ZADD', readers, 'XX', 0, '-')
-- There is no such form of HSET.
redis.call('HDEL', waiters, '-')
redis.call('HSET', waiters, '-', '-')
redis.call('HDEL', waiters, '-')
-- Nobody waits for this lock: the key is missing.
redis.call('PEXPIREAT', waiters, 1)
return 'ok'
