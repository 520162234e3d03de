-- Operations of many callers. Each is the name of its script, the number of its arguments, and these. Answers each in
-- the order of the request: what its script answers, or 'error' and a message. An error of one does not end the others.
--
-- With full memory Redis refuses a grant, unless an operation before it has written: then it allows the whole batch.

-- include leases
-- include grants
-- include releases

local function acquire(ARGV)
-- include acquire
end

local function release(ARGV)
-- include release
end

local OPERATIONS = { acquire = acquire, release = release }

local answers = {}
local next_one = 1
while ARGV[next_one] do
    local first, last = next_one + 2, next_one + 1 + ARGV[next_one + 1]
    local done, answer = pcall(OPERATIONS[ARGV[next_one]], { unpack(ARGV, first, last) })
    table.insert(answers, done and answer or { 'error', type(answer) == 'table' and answer.err or answer })
    next_one = last + 1
end
return answers
