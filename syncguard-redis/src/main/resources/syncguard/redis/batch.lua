-- Operations of many callers. ARGV[1] has a letter for each: the first of its script, acquire or release. The others are
-- its arguments, and KEYS its keys. Answers each in the order of the request: what its script answers, or 'error' and a
-- message. An error of one does not end the others.
--
-- With full memory Redis refuses a grant, unless an operation before it has written: then it allows the whole batch.

-- include clock

-- include clock_texts

local function grant_free(k, a)
-- include grant_free
end

-- include queue_expiry

-- include enter_queue

local function release_alone(k, a)
-- include release_alone
    return nil, lease
end

-- include hand_over

local function acquire_in_full(KEYS, ARGV)
-- include acquire_in_full
end

local function release_in_full(KEYS, ARGV, lease)
-- include release_in_full
end

-- So many of these behind an index.
local function part(list, before, count)
    return { unpack(list, before + 1, before + count) }
end

local function acquire(k, a)
    return grant_free(k, a) or enter_queue(k, a) or acquire_in_full(part(KEYS, k, 8), part(ARGV, a, 7))
end

local function release(k, a)
    local released, lease = release_alone(k, a)
    return released or hand_over(k, a, lease) or release_in_full(part(KEYS, k, 8), part(ARGV, a, 3), lease)
end

local answers = {}
local k, a = 0, 1
for i = 1, #ARGV[1] do
    local done, answer
    if string.sub(ARGV[1], i, i) == 'a' then
        done, answer = pcall(acquire, k, a)
        a = a + 7
    else
        done, answer = pcall(release, k, a)
        a = a + 3
    end
    k = k + 8
    answers[i] = done and answer or { 'error', type(answer) == 'table' and answer.err or answer }
end
return answers
