-- The clock as texts, which are cheaper than numbers. Needs clock.lua.

local micros = string.sub('00000' .. time[2], -6)
local clock_fence = time[1] .. string.sub(micros, 1, 5)
local clock_millis = time[1] .. string.sub(micros, 1, 3)

-- Draws the fence of the clock. Answers false if the counter is not behind it. The counter then has its value, but no
-- expiry, and the caller draws by next_fence.
local function draw_clock_fence(counter, retention)
    local last = redis.call('SET', counter, clock_fence, 'PX', retention, 'GET')
    -- Texts of 15 digits have the order of their numbers. A shorter one may seem larger; then next_fence decides.
    if clock_fence < '81' and #clock_fence == 15 and (not last or last < clock_fence and #last < 16) then
        return true
    end
    if last then
        redis.call('SET', counter, last)
    else
        redis.call('DEL', counter)
    end
    return false
end

-- What all grants with this ttl and tolerance have in common. Nearly all requests of a batch have the same.
local common_ttl, common_over, common_times, common_answer
