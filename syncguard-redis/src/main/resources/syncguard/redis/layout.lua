-- Answers the version of the layout of this prefix, over how many shards its keys are spread, and where their fences
-- come from. What the first caller says is stored and stays. The source of the fences may change from counter to clock,
-- and not back: a counter that was forgotten would begin at 1 again. KEYS[1] is the layout, which is without a shard.

local layout = KEYS[1]
local version, shards, fences = ARGV[1], ARGV[2], ARGV[3]

if redis.call('EXISTS', layout) == 0 then
    redis.call('HSET', layout, 'version', version, 'shards', shards, 'fences', fences)
end
-- The first layout had no version.
local stored_version = redis.call('HGET', layout, 'version') or '1'
local stored_shards = redis.call('HGET', layout, 'shards') or '1'
-- The source is stored only if the caller will not be refused.
if stored_version == version and stored_shards == shards and redis.call('HGET', layout, 'fences') ~= 'clock' then
    redis.call('HSET', layout, 'fences', fences)
end
return { stored_version, stored_shards, redis.call('HGET', layout, 'fences') or fences }
