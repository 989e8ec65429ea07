"""Malformed requests: the bytes, the status, and whether the connection is kept open (http §24)."""

CLOSE, KEEP = False, True


def get(*lines):
    return "\r\n".join(["GET / HTTP/1.1", "Host: localhost", *lines, "", ""]).encode("latin-1")


def line(first):
    return f"{first}\r\nHost: localhost\r\n\r\n".encode("latin-1")


def put(*lines, body=b""):
    return "\r\n".join(["PUT / HTTP/1.1", "Host: localhost", *lines, "", ""]).encode("latin-1") + body


def chunked(body):
    return put("Transfer-Encoding: chunked", body=body)


BAD = [
    # H8: line ends.
    b"GET / HTTP/1.1\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\r\n\r\n", b"GET / HTTP/1.1\rHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\n",
    # H9, H10: before the request line.
    b"\r\n\r\n" + get(), b"\n" + get(), b" " + get(), b"\x00" + get(), b"\x16\x03\x01\x02\x00\x01\x00",
    b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n" + get(), b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c",
    # H11–H15, H17: the request line.
    line("GET  / HTTP/1.1"), line("GET /  HTTP/1.1"), line("GET\t/ HTTP/1.1"), line("GET / HTTP/1.1 "),
    line("G(T / HTTP/1.1"), line("GET / HTTP/1"), line("GET / HTTP/1.10"), line("GET / http/1.1"),
    line("GET /"), line("GET /a#b HTTP/1.1"), line("GET /\x7f HTTP/1.1"), line("GET /\xe9 HTTP/1.1"),
    line("GET foo HTTP/1.1"), line("GET * HTTP/1.1"), line("GET ftp://localhost/ HTTP/1.1"),
    line("GET http://u@localhost/ HTTP/1.1"), line("GET http:/// HTTP/1.1"), line("CONNECT / HTTP/1.1"),
    # H22–H25: field lines.
    get("NoColon"), get(": empty"), get("X Y: v"), get("X : v"), get("X\xe9: v"), get("X(Y): v"),
    get(" folded: v"), get("A: b", " folded"), get("A: b\x00"), get("A: b\x7f"), get("A: \x01"),
    # H29, H34, H35: fields that may occur once, and Host.
    get("Host: localhost"), b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost:\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", b"GET / HTTP/1.1\r\nHost: u@h\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: h:99999\r\n\r\n", b"GET / HTTP/1.1\r\nHost: h/x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", get("Authorization: a", "Authorization: b"),
    get("Content-Type: a/b", "Content-Type: a/b"), get("Range: bytes=0-", "Range: bytes=0-"),
    # H40–H43: framing.
    put("Content-Length: 3", "Transfer-Encoding: chunked", body=b"abc"),
    put("Transfer-Encoding: chunked", "Content-Length: 3", body=b"0\r\n\r\n"),
    put("Transfer-Encoding: identity"), put("Transfer-Encoding: chunked, chunked"),
    put("Transfer-Encoding: chunked, gzip"), put("Transfer-Encoding:"), put("Transfer-Encoding: \"chunked\""),
    put("Transfer-Encoding: chunked;a=b"), put("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
    put("Transfer-Encoding: chun\xe2\x84\xaaed"),
    b"PUT / HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    *[put(f"Content-Length: {value}", body=b"abc") for value in (
        "+3", "-3", "3 3", "3,3", "0x3", "3.0", "3e0", "3_0", "", "9223372036854775808",
        "99999999999999999999", "\xb3")],
    put("Content-Length: 3", "Content-Length: 3", body=b"abc"),
]

# H46–H50: chunks, on a route that reads its body.
BAD_CHUNKS = [
    chunked(size + b"\r\nhello\r\n0\r\n\r\n") for size in (
        b"+5", b"-5", b"0x5", b" 5", b"5 ", b"", b"_5", b"g", b"8000000000000000", b"00000000000000005", b"5;",
        b"5;=b", b"5;a=", b"5;a=\"b", b"5;\x01", b"5 a")
] + [
    chunked(b"5\nhello\r\n0\r\n\r\n"), chunked(b"5\r\nhello0\r\n\r\n"), chunked(b"5\r\nhello\n0\r\n\r\n"),
    chunked(b"4\r\nhello\r\n0\r\n\r\n"), chunked(b"0\r\nA : b\r\n\r\n"), chunked(b"0\r\n: b\r\n\r\n"),
    chunked(b"0\r\n A: b\r\n\r\n"), chunked(b"0\r\nA: b\x00\r\n\r\n"),
]

# Requests whose answers do not depend on the routes.
MALFORMED = [(data, 400, CLOSE) for data in BAD] + [
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, CLOSE), (line("GET / HTTP/2.0"), 505, CLOSE),
    (line("GET / HTTP/0.9"), 505, CLOSE), (put("Transfer-Encoding: gzip, chunked"), 501, CLOSE),
    (b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n", 501, CLOSE),
    (line("GET /" + "a" * 9000 + " HTTP/1.1"), 414, CLOSE), (get("X: " + "x" * 17_000), 431, CLOSE),
    (get(*["X: " + "x" * 900] * 40), 431, CLOSE), (get(*["X: y"] * 101), 431, CLOSE),
    (put("Content-Length: 3", "Expect: 200-ok", body=b"abc"), 417, CLOSE),
    (line("BREW / HTTP/1.1"), 501, KEEP), (line("TRACE / HTTP/1.1"), 405, KEEP), (line("get / HTTP/1.1"), 501, KEEP),
    (line("GET /not/known HTTP/1.1"), 404, KEEP), (line("GET /%zz HTTP/1.1"), 400, KEEP),
    (line("GET /%00 HTTP/1.1"), 400, KEEP), (line("GET /%c0%af HTTP/1.1"), 400, KEEP),
    (line("GET /../x HTTP/1.1"), 400, KEEP), (line("GET /%2e%2e/x HTTP/1.1"), 400, KEEP),
    (get(*["Cookie: a=b"] * 65), 400, KEEP),
]
