import HTTP
import Testing

/// Which of the 256 bytes each part of a head allows, listed independently of the implementation.
@Suite struct `The bytes of a head` {
    private static let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    private static let digits = "0123456789"

    /// The bytes that are refused between two texts.
    private func refused(_ before: String, _ after: String) -> Set<UInt8> {
        Set(
            (0...255).filter { byte in
                ParseResult(utf8Bytes(before) + [byte] + utf8Bytes(after)).head == nil
            })
    }

    private func all(but allowed: String) -> Set<UInt8> {
        Set(0...255).subtracting(utf8Bytes(allowed))
    }

    @Test func `a method consists of token characters (H12)`() {
        let tokens = Self.letters + Self.digits + "!#$%&'*+-.^_`|~"
        #expect(
            refused("G", "T / HTTP/1.1\r\nHost: h\r\n\r\n").subtracting([0x20])
                == all(but: tokens + " "))
    }

    @Test func `a field name consists of token characters (H22)`() {
        let tokens = Self.letters + Self.digits + "!#$%&'*+-.^_`|~"
        // A colon ends the name one byte early.
        #expect(refused("GET / HTTP/1.1\r\nHost: h\r\nX", "Y: z\r\n\r\n") == all(but: tokens + ":"))
    }

    @Test func `a path and a query consist of the bytes that rule H15 lists`() {
        let path = Self.letters + Self.digits + "-._~!$&'()*+,;=:@/%|^{}[]"
        // A question mark starts the query.
        #expect(refused("GET /a", "b HTTP/1.1\r\nHost: h\r\n\r\n") == all(but: path + "?"))
        #expect(
            refused("GET /a?b", "c HTTP/1.1\r\nHost: h\r\n\r\n") == all(but: path + "?\"<>\\`"))
    }

    @Test func `a host consists of the bytes of a registered name (H35)`() {
        let host = Self.letters + Self.digits + "-._~!$&'()*+;="
        // A colon starts the port.
        #expect(refused("GET / HTTP/1.1\r\nHost: a", "1\r\n\r\n") == all(but: host + ":"))
    }

    @Test(arguments: 0..<20)
    func `a value contains no control character at any position (H25)`(index: Int) {
        let before = "GET / HTTP/1.1\r\nHost: h\r\nX: a" + String(repeating: "v", count: index)
        let controls = Set<UInt8>(0x00...0x1F).subtracting([0x09]).union([0x7F])
        for after in ["b\r\n\r\n", "\t01234567\u{E9}8\t9abcdef\r\n\r\n"] {
            #expect(refused(before, after) == controls)
        }
    }
}
