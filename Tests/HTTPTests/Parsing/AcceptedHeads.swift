/// Heads that are accepted, each with the rule that says so.
enum AcceptedHeads {
    static let requestLines: [HeadCase] = [
        HeadCase("H9", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        HeadCase("H12", request("get / HTTP/1.1")),
        HeadCase("H12", request("ABCDEFGHIJKLMNOPQRSTUVWX / HTTP/1.1")),
        HeadCase("H12", request("!#$%&'*+-.^_`|~0 / HTTP/1.1")),
        HeadCase("H13", request("GET / HTTP/1.0")),
        HeadCase("H13", request("GET / HTTP/1.2")),
        HeadCase("H13", request("GET / HTTP/1.9")),
        HeadCase("H15", request("GET /a-._~!$&'()*+,;=:@/%41|^{}[] HTTP/1.1")),
        HeadCase("H15", request("GET /a?b?c\"<>\\`/%zz|^{}[] HTTP/1.1")),
        HeadCase("H16", request("GET http://h HTTP/1.1")),
        HeadCase("H16", request("DELETE HTTPS://h:443/a?b HTTP/1.1")),
        HeadCase("H16", request("GET http://[::1]:8080?q HTTP/1.1")),
        HeadCase("H18", request("OPTIONS * HTTP/1.1")),
        HeadCase("H20", request("TRACE / HTTP/1.1")),
        HeadCase("H36", "GET / HTTP/1.0\r\n\r\n"),
    ]

    static let fields: [HeadCase] = [
        HeadCase("H25", get("Empty:", "Blanks: \t ", "High: \u{80}\u{FF}", "Tab: a\tb")),
        HeadCase("H27", get("Content_Length: 5", "Content-Length: 0")),
        HeadCase("H28", get("A: 1", "B: 2", "A: 3")),
        HeadCase("H31", get("Connection: x, close", "X: 1")),
        HeadCase("H33", get("Proxy-Connection: close", "Keep-Alive: timeout=1")),
        HeadCase("H43", get("Content-Length: 9223372036854775807")),
        HeadCase("H43", get("Content-Length: 0000000000000000005")),
        HeadCase("H41", get("Transfer-Encoding: ChUnKeD")),
        HeadCase("H41", get("Transfer-Encoding: \t chunked \t")),
        HeadCase("H73", get("Expect: 100-Continue", "Content-Length: 1")),
        HeadCase("H86", get("Upgrade: h2c", "Connection: upgrade")),
    ]

    static let hosts: [HeadCase] = [
        "h", "h:80", "h:", "example.com.", "127.0.0.1:65535", "[::1]", "[::]:0", "[::ffff:1.2.3.4]",
        "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7::]", "[2001:db8::1]:443", "a_b-c", "1",
    ].map { host in HeadCase("H35", "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") }

    static let all = requestLines + fields + hosts
}
