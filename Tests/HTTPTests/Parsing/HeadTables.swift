/// Heads that are accepted, each with the rule that allows it.
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

/// Heads that are refused, each with the rule that forbids it.
enum RefusedHeads {
    static let lines: [HeadCase] = [
        HeadCase("H8", "GET / HTTP/1.1\nHost: h\r\n\r\n"),
        HeadCase("H8", "GET / HTTP/1.1\r\nHost: h\n\r\n"),
        HeadCase("H8", "GET / HTTP/1.1\r\nHost: h\r\n\n"),
        HeadCase("H8", "GET / HTTP/1.1\r\nHost: h\r\r\n\r\n"),
        HeadCase("H8", "GET / HTTP/1.1\rHost: h\r\n\r\n"),
        HeadCase("H8", "GET / HTTP/1.1\r\nHost: h\r\n\rX"),
        HeadCase("H8", "GET / HTTP/1.1\r\nHost: h\rA: b\r\n\r\n"),
        HeadCase("H9", "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        HeadCase("H9", "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        HeadCase("H9", "\r\rGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        HeadCase("H9", " GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        HeadCase("H9", "\u{0}GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        HeadCase("H10", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}"),
        HeadCase("H10", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        HeadCase("H10", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"),
        HeadCase("H203", "\r\n\r\n\u{0}\r\nQUIT\n\u{21}\u{11}"),
        HeadCase("H11", request("GET  / HTTP/1.1")),
        HeadCase("H11", request("GET /  HTTP/1.1")),
        HeadCase("H11", request("GET\t/ HTTP/1.1")),
        HeadCase("H11", request("GET /\tHTTP/1.1")),
        HeadCase("H11", request("GET / HTTP/1.1 ")),
        HeadCase("H11", request("GET / HTTP/1.1\t")),
        HeadCase("H11", request("GET / a HTTP/1.1")),
        HeadCase("H12", request("G(T / HTTP/1.1")),
        HeadCase("H12", request("GE\u{80}T / HTTP/1.1")),
        HeadCase("H12", request("GET: / HTTP/1.1")),
        HeadCase("H12", request("{} / HTTP/1.1")),
        HeadCase("H13", request("GET / HTTP/1")),
        HeadCase("H13", request("GET / HTTP/1.10")),
        HeadCase("H13", request("GET / HTTP/01.1")),
        HeadCase("H13", request("GET / http/1.1")),
        HeadCase("H13", request("GET / HTTP/1,1")),
        HeadCase("H13", request("GET / HTTP/a.1")),
        HeadCase("H13", request("GET / HTTP/1.x")),
        HeadCase("H13", request("GET / HTTP 1.1")),
        HeadCase("H13", request("GET / HTTQ/1.1")),
        HeadCase("H13", request("GET / HTTP/\u{B9}.1")),
        HeadCase("H13", request("GET / HTTP/2.0"), 505),
        HeadCase("H13", request("GET / HTTP/0.9"), 505),
        HeadCase("H13", request("GET / HTTP/9.9"), 505),
        HeadCase("H14", "GET /\r\n"),
        HeadCase("H14", "GET / \r\n"),
        HeadCase("H14", "GET\r\n"),
    ]

    static let targets: [HeadCase] =
        "\\\"<>`#".unicodeScalars.map { scalar in
            HeadCase("H15", request("GET /a\(scalar)b HTTP/1.1"))
        }
        + [
            HeadCase("H15", request("GET /a\u{7F} HTTP/1.1")),
            HeadCase("H15", request("GET /\u{E9} HTTP/1.1")),
            HeadCase("H15", request("GET /\u{1} HTTP/1.1")),
            HeadCase("H15", request("GET /?\u{80} HTTP/1.1")),
            HeadCase("H15", request("GET /?a#b HTTP/1.1")),
            HeadCase("H16", request("GET ftp://h/ HTTP/1.1")),
            HeadCase("H16", request("GET http://u@h/ HTTP/1.1")),
            HeadCase("H16", request("GET http:/// HTTP/1.1")),
            HeadCase("H16", request("GET http://h:x/ HTTP/1.1")),
            HeadCase("H16", request("GET http://h:65536/ HTTP/1.1")),
            HeadCase("H16", request("GET http://h:-1/ HTTP/1.1")),
            HeadCase("H16", "GET http://h/ HTTP/1.1\r\n\r\n"),
            HeadCase("H16", "GET http://h/ HTTP/1.1\r\nHost: a b\r\n\r\n"),
            HeadCase("H17", request("GET foo HTTP/1.1")),
            HeadCase("H17", request("GET h:80 HTTP/1.1")),
            HeadCase("H17", request("GET * HTTP/1.1")),
            HeadCase("H17", request("OPTIONS *a HTTP/1.1")),
            HeadCase("H17", request("CONNECT / HTTP/1.1")),
            HeadCase("H17", request("CONNECT h HTTP/1.1")),
            HeadCase("H19", request("CONNECT h:443 HTTP/1.1"), 501),
        ]

    static let fields: [HeadCase] =
        "()<>@,;\\\"/[]?={}\u{0}\u{1}\u{7F}\u{80}\u{E9}".unicodeScalars.map { scalar in
            HeadCase("H22", get("X\(scalar)Y: v"))
        } + [
            HeadCase("H22", get("NoColon")),
            HeadCase("H22", get(": empty")),
            HeadCase("H22", get("\u{85}Name: v")),
            HeadCase("H23", get("Name : v")),
            HeadCase("H23", get("Name\t: v")),
            HeadCase("H24", "GET / HTTP/1.1\r\n Host: h\r\n\r\n"),
            HeadCase("H24", "GET / HTTP/1.1\r\n\tHost: h\r\n\r\n"),
            HeadCase("H24", get("A: b", " folded")),
            HeadCase("H24", get("A: b", "\tfolded")),
            HeadCase("H25", get("A: \u{0}")),
            HeadCase("H25", get("A: b\u{1}c")),
            HeadCase("H25", get("A: b\u{7F}")),
            HeadCase("H25", get("A: \u{B}")),
        ]
        + [
            "Host: h", "Content-Length: 0", "Authorization: a", "Content-Type: a/b",
            "Content-Encoding: gzip", "If-Modified-Since: x", "If-Unmodified-Since: x",
            "If-Range: x", "Range: bytes=0-", "Origin: null", "Sec-WebSocket-Key: x",
            "Sec-WebSocket-Version: 13", "Expect: 100-continue", "Transfer-Encoding: chunked",
        ].map { line in HeadCase("H29", get(line, line)) }
        + [
            HeadCase("H29", get("conTent-tYpe: a/b", "CONTENT-TYPE: a/b")),
            HeadCase("H30", get("Connection: " + String(repeating: ",", count: 20))),
            HeadCase("H75", get("Expect: 200-ok"), 417),
            HeadCase("H75", get("Expect: 100-continue, x"), 417),
        ]

    static let hosts: [HeadCase] =
        [
            HeadCase("H34", "GET / HTTP/1.1\r\n\r\n"),
            HeadCase("H34", "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n"),
            HeadCase("H34", "GET / HTTP/1.9\r\n\r\n"),
        ]
        + [
            "", "a, b", "u@h", "h/", "h?q", "a b", "h%2F", "h%00", ".h", "h:x", "h:65536", "h:-1",
            "h:99999999999999999999", ":80", "[::1", "[::1]x", "[:::1]", "[1.2.3.4]", "[::1]:x",
            "[v1.a]", "::1", "[fe80::1%25eth0]", "h\\", "h\"", "h:80:80", "[12345::]", "[::1.2.3]",
            "[::1.2.3.256]", "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7]", "[1::2::3]", "h\u{E9}",
        ].map { host in HeadCase("H35", "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") }

    static let framings: [HeadCase] =
        [
            HeadCase("H40", get("Transfer-Encoding: chunked", "Content-Length: 5")),
            HeadCase("H40", get("Content-Length: 0", "Transfer-Encoding: chunked")),
            HeadCase("H40", get("Content-Length: 5", "Transfer-Encoding: identity")),
            HeadCase("H41", get("Transfer-Encoding: gzip, chunked"), 501),
            HeadCase("H41", get("Transfer-Encoding: gzip, deflate , CHUNKED"), 501),
            HeadCase("H41", get("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")),
            HeadCase("H42", "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
            HeadCase("H43", get("Content-Length: 5", "Content-Length: 5")),
        ]
        + [
            "gzip", "identity", "chunked, gzip", "chunked, chunked", "identity, chunked", "",
            "chunked;q=1", "\"chunked\"", "chunked,", ",chunked", "chunked chunked", "xchunked",
            "chun\u{212A}ed", "\u{85}chunked", "chunked\u{A0}", "gzip,,chunked", "chunke\u{B}d",
        ].map { value in HeadCase("H41", get("Transfer-Encoding: \(value)")) }
        + [
            "", "+5", "-1", "-0", "5 5", "5, 5", "5,5", "0x5", "1e3", "1_000", "5.0", "\u{661}",
            "\u{B2}",
            "9223372036854775808", "18446744073709551616", "99999999999999999999",
            "00000000000000000005", "5\u{A0}", "\u{85}5", "five",
        ].map { value in HeadCase("H43", get("Content-Length: \(value)")) }

    static let all = lines + targets + fields + hosts + framings
}
