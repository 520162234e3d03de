-- One step through the keys of the server, from a cursor. It begins and ends with the cursor 0. Answers the next
-- cursor, then the key of each lease and queue entry that it met: the same key may come several times, and that of a
-- lapsed lease may come, too.

-- As many keys as Redis passes in about three milliseconds.
local COUNT = 5000

local pattern = string.gsub(KEYS[1], '[%*%?%[%]\\]', '\\%0') .. 'id:*'
local page = redis.call('SCAN', ARGV[1], 'MATCH', pattern, 'COUNT', COUNT)
local answers = { page[1] }
for _, id in ipairs(page[2]) do
    table.insert(answers, redis.call('GET', id) or nil)
end
return answers
