-- Requests that differ: {n} in path and body is a running number, {x} the same in 12 hexadecimal digits.
-- {c} is one of the words of BENCH_CHOICES, in turn.
-- BENCH_FROM is the first number; BENCH_BELOW, where it is given, makes each number a random one below it.
local method = os.getenv("BENCH_METHOD")
local path = os.getenv("BENCH_PATH")
local body = os.getenv("BENCH_BODY")
local below = tonumber(os.getenv("BENCH_BELOW"))
local number = tonumber(os.getenv("BENCH_FROM") or "0") - 1
local choices = {}
for word in (os.getenv("BENCH_CHOICES") or ""):gmatch("%S+") do
    table.insert(choices, word)
end

local function filled(text)
    local values = {n = string.format("%d", number), x = string.format("%012x", number)}
    values.c = choices[number % math.max(1, #choices) + 1]
    return (text:gsub("{([nxc])}", values))
end

function request()
    number = below and math.random(0, below - 1) or number + 1
    return wrk.format(method, filled(path), nil, body and filled(body))
end
