-- Operations of many callers. Each is the name of its script, the number of its keys and of its arguments, and these.
-- Answers each in the order of the request: what its script answers, or 'error' and a message. An error of one does not
-- end the others.
--
-- With full memory Redis refuses a grant, unless an operation before it has written: then it allows the whole batch.

-- include clock

local function acquire(KEYS, ARGV)
-- include acquire
end

local function release(KEYS, ARGV)
-- include release
end

local OPERATIONS = { acquire = acquire, release = release }

local answers = {}
local next_key, next_one = 1, 1
while ARGV[next_one] do
    local keys, arguments = tonumber(ARGV[next_one + 1]), tonumber(ARGV[next_one + 2])
    local first = next_one + 3
    local done, answer = pcall(
        OPERATIONS[ARGV[next_one]], { unpack(KEYS, next_key, next_key + keys - 1) },
        { unpack(ARGV, first, first + arguments - 1) })
    table.insert(answers, done and answer or { 'error', type(answer) == 'table' and answer.err or answer })
    next_key, next_one = next_key + keys, first + arguments
end
return answers
