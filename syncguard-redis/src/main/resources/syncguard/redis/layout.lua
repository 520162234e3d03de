-- Answers over how many shards the keys of this prefix are spread, and where their fences come from. The number of the
-- first caller is stored and stays. The source of the fences may change from counter to clock, and not back: a counter
-- that was forgotten would begin at 1 again. KEYS[1] is the prefix without a shard.

local layout = KEYS[1] .. 'layout'
local shards, fences = ARGV[1], ARGV[2]

if not redis.call('HGET', layout, 'shards') then
    redis.call('HSET', layout, 'shards', shards)
end
-- Only of a caller that will not be refused because of its number of shards.
if redis.call('HGET', layout, 'shards') == shards and redis.call('HGET', layout, 'fences') ~= 'clock' then
    redis.call('HSET', layout, 'fences', fences)
end
return { tonumber(redis.call('HGET', layout, 'shards')), redis.call('HGET', layout, 'fences') }
