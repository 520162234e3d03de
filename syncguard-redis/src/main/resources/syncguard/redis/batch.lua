-- Operations of many callers. ARGV[1] has the script of each, acquire or release. Behind it are the arguments of all;
-- KEYS has the keys of all. Answers each in the order of the request: what its script answers, or 'error' and a
-- message. An error of one does not end the others.
--
-- With full memory Redis refuses a grant, unless an operation before it has written: then it allows the whole batch.

-- include clock
-- include clock_texts
-- include queue_expiry
-- include enter_queue
-- include attempts
-- include release_alone
-- include hand_over

local function release_in_full(KEYS, ARGV, lease)
-- include release_in_full
end

local ARGUMENTS_OF_RELEASE = 3

local function acquire(key_offset, arg_offset)
    return grant_free(key_offset, arg_offset, false) or enter_queue(key_offset, arg_offset)
        or attempt_in_full(key_offset, arg_offset, false)
end

local function release(key_offset, arg_offset)
    local released, lease = release_alone(key_offset, arg_offset)
    return released or hand_over(key_offset, arg_offset, lease)
        or release_in_full(
            part(KEYS, key_offset, KEYS_OF_ONE), part(ARGV, arg_offset, ARGUMENTS_OF_RELEASE), lease)
end

local OPERATIONS = {
    acquire = { run = acquire, arguments = ARGUMENTS_OF_ACQUIRE },
    release = { run = release, arguments = ARGUMENTS_OF_RELEASE },
}

local answers = {}
local key_offset, arg_offset = 0, 1
for script in string.gmatch(ARGV[1], '%a+') do
    local operation = OPERATIONS[script]
    local done, answer = pcall(operation.run, key_offset, arg_offset)
    answers[#answers + 1] = done and answer or { 'error', type(answer) == 'table' and answer.err or answer }
    key_offset, arg_offset = key_offset + KEYS_OF_ONE, arg_offset + operation.arguments
end
return answers
