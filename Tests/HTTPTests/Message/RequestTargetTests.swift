import HTTP
import Testing

@Suite struct `Request targets` {
    @Test(
        arguments: [
            ("/", []), ("/a", ["a"]), ("/a/b", ["a", "b"]), ("/a/", ["a", ""]), ("//", ["", ""]),
            ("/a//b", ["a", "", "b"]), ("/a%2Fb", ["a/b"]), ("/a%252Fb", ["a%2Fb"]),
            ("/%41%c3%a9", ["Aé"]),
            ("/a;b=c/d", ["a;b=c", "d"]), ("/a+b", ["a+b"]), ("/...", ["..."]), ("/a?b/c", ["a"]),
        ] as [(String, [String])])
    func `a path is split first and decoded once (H60, H63)`(target: String, segments: [String])
        throws
    {
        #expect(try RequestTarget(target).segments() == segments)
    }

    @Test(arguments: [
        "/%", "/%4", "/%zz", "/%4g", "/%00", "/a%00b", "/%80", "/%C0%AF", "/%ED%A0%80",
        "/%F4%90%80%80",
        "/%E2%82", "/.", "/..", "/a/../b", "/%2e", "/%2E%2e", "/a/.%2e/b", "/./a",
    ])
    func `bad escapes, NUL, bad UTF-8 and dot segments are malformed (H61, H62)`(target: String) {
        #expect(throws: RequestTarget.Fault.malformed) { try RequestTarget(target).segments() }
    }

    @Test func `64 segments of 1,024 bytes are accepted and no more (H58)`() throws {
        #expect(try RequestTarget(String(repeating: "/a", count: 64)).segments().count == 64)
        #expect(throws: RequestTarget.Fault.tooLong) {
            try RequestTarget(String(repeating: "/a", count: 65)).segments()
        }
        #expect(
            try RequestTarget("/" + String(repeating: "%41", count: 1024)).segments().count == 1)
        #expect(throws: RequestTarget.Fault.tooLong) {
            try RequestTarget("/" + String(repeating: "a", count: 1025)).segments()
        }
    }

    @Test func `parameters are form-decoded, in order (H63)`() throws {
        let parameters = try RequestTarget("/?a=1+2&b=%2B&&c&=d&a=3").parameters()
        #expect(parameters.map(\.name) == ["a", "b", "c", "", "a"])
        #expect(parameters.map(\.value) == ["1 2", "+", "", "d", "3"])
        #expect(try RequestTarget("/").parameters().isEmpty)
    }

    @Test func `256 parameters are accepted and no more (H57)`() throws {
        let query = { (count: Int) in
            "/?" + (0..<count).map { number in "p=\(number)" }.joined(separator: "&")
        }
        #expect(try RequestTarget(query(256)).parameters().count == 256)
        #expect(throws: RequestTarget.Fault.malformed) {
            try RequestTarget(query(257)).parameters()
        }
        #expect(throws: RequestTarget.Fault.malformed) { try RequestTarget("/?a=%zz").parameters() }
        #expect(throws: RequestTarget.Fault.malformed) { try RequestTarget("/?%00=a").parameters() }
    }
}
