-- Sends sixteen pipelined requests at a time.
local batch

function init(arguments)
    local requests = {}
    for i = 1, 16 do
        requests[i] = wrk.format("GET", "/")
    end
    batch = table.concat(requests)
end

function request()
    return batch
end
