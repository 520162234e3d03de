-- Operations of many callers. ARGV[1] has a letter for each: the first of its script, acquire or release. Behind it are
-- the arguments of all; KEYS has the keys of all. Answers each in the order of the request: what its script answers, or
-- 'error' and a message. An error of one does not end the others.
--
-- With full memory Redis refuses a grant, unless an operation before it has written: then it allows the whole batch.

-- include clock

-- include clock_texts

local known_free = false

local function grant_free(key_offset, arg_offset)
-- include grant_free
end

-- include queue_expiry

-- include enter_queue

local function release_alone(key_offset, arg_offset)
-- include release_alone
    return nil, lease
end

-- include hand_over

local function acquire_in_full(KEYS, ARGV, looks)
-- include acquire_in_full
end

local function release_in_full(KEYS, ARGV, lease)
-- include release_in_full
end

-- So many of these behind an index.
local function part(list, before, count)
    return { unpack(list, before + 1, before + count) }
end

local function acquire(key_offset, arg_offset)
    return grant_free(key_offset, arg_offset) or enter_queue(key_offset, arg_offset)
        or acquire_in_full(part(KEYS, key_offset, 8), part(ARGV, arg_offset, 7), false)
end

local function release(key_offset, arg_offset)
    local released, lease = release_alone(key_offset, arg_offset)
    return released or hand_over(key_offset, arg_offset, lease)
        or release_in_full(part(KEYS, key_offset, 8), part(ARGV, arg_offset, 3), lease)
end

local answers = {}
local key_offset, arg_offset = 0, 1
for i = 1, #ARGV[1] do
    local done, answer
    if string.sub(ARGV[1], i, i) == 'a' then
        done, answer = pcall(acquire, key_offset, arg_offset)
        arg_offset = arg_offset + 7
    else
        done, answer = pcall(release, key_offset, arg_offset)
        arg_offset = arg_offset + 3
    end
    key_offset = key_offset + 8
    answers[i] = done and answer or { 'error', type(answer) == 'table' and answer.err or answer }
end
return answers
