-- The keys for which these lock ids are, in their order; nothing for one that is not known.

local keys = {}
for i, id in ipairs(KEYS) do
    keys[i] = redis.call('GET', id)
end
return keys
