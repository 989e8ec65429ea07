-- Messages with texts that differ.
local number = 0

function request()
    number = number + 1
    local body = string.format(
        '{"sender_id":"layer:///identities/ana","parts":[{"mime_type":"text/plain","body":"message %d, as long as messages are"}]}',
        number)
    return wrk.format("POST", nil, nil, body)
end
