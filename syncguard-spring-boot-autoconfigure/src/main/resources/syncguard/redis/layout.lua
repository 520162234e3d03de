-- Answers over how many shards the keys of this prefix are spread. The number of the first caller is stored and stays.
-- KEYS[1] is the prefix without a shard.

local layout = KEYS[1] .. 'layout'
if not redis.call('HGET', layout, 'shards') then
    redis.call('HSET', layout, 'shards', ARGV[1])
end
return { tonumber(redis.call('HGET', layout, 'shards')) }
