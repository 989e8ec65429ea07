import HTTP
import Testing

/// Which of the 256 bytes each part of a head holds, said a second time and in another way.
@Suite struct `The bytes of a head` {
    private static let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    private static let digits = "0123456789"

    /// Refused bytes of a part, which stands between two texts.
    private func refused(_ before: String, _ after: String) -> Set<UInt8> {
        Set(
            (0...255).filter { byte in
                ParseResult(utf8Bytes(before) + [byte] + utf8Bytes(after)).head == nil
            })
    }

    private func all(but allowed: String) -> Set<UInt8> {
        Set(0...255).subtracting(utf8Bytes(allowed))
    }

    @Test func `a method holds token characters (H12)`() {
        let tokens = Self.letters + Self.digits + "!#$%&'*+-.^_`|~"
        #expect(
            refused("G", "T / HTTP/1.1\r\nHost: h\r\n\r\n").subtracting([0x20])
                == all(but: tokens + " "))
    }

    @Test func `a field name holds token characters (H22)`() {
        let tokens = Self.letters + Self.digits + "!#$%&'*+-.^_`|~"
        // A colon ends the name one byte early.
        #expect(refused("GET / HTTP/1.1\r\nHost: h\r\nX", "Y: z\r\n\r\n") == all(but: tokens + ":"))
    }

    @Test func `a path and a query hold what rule H15 lists`() {
        let path = Self.letters + Self.digits + "-._~!$&'()*+,;=:@/%|^{}[]"
        // A question mark begins the query.
        #expect(refused("GET /a", "b HTTP/1.1\r\nHost: h\r\n\r\n") == all(but: path + "?"))
        #expect(
            refused("GET /a?b", "c HTTP/1.1\r\nHost: h\r\n\r\n") == all(but: path + "?\"<>\\`"))
    }

    @Test func `a host holds what a registered name holds (H35)`() {
        let host = Self.letters + Self.digits + "-._~!$&'()*+;="
        // A colon begins the port.
        #expect(refused("GET / HTTP/1.1\r\nHost: a", "1\r\n\r\n") == all(but: host + ":"))
    }

    @Test(arguments: 0..<20)
    func `a value holds no control character, wherever it stands (H25)`(place: Int) {
        let before = "GET / HTTP/1.1\r\nHost: h\r\nX: a" + String(repeating: "v", count: place)
        let controls = Set<UInt8>(0x00...0x1F).subtracting([0x09]).union([0x7F])
        for after in ["b\r\n\r\n", "\t01234567\u{E9}8\t9abcdef\r\n\r\n"] {
            #expect(refused(before, after) == controls)
        }
    }
}
