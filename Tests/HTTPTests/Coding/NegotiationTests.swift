import HTTP
import Testing

@Suite struct `Content coding negotiation` {
    @Test(
        arguments: [
            ("gzip", .gzip), ("x-gzip", .gzip), ("GZip", .gzip), ("deflate", .deflate),
            ("deflate, gzip", .gzip), ("gzip;q=0.5, deflate", .deflate),
            ("gzip;q=0.5, deflate;q=0.5", .gzip), ("gzip;q=0.001", .gzip),
            ("gzip ; q=0.8 , br", .gzip), ("*", .gzip), ("*;q=0.1", .gzip),
            ("gzip;q=0, *", .deflate), ("gzip;Q=1.000", .gzip), ("gzip;q=1.", .gzip),
            ("gzip;q=0.5, identity;q=0.5", .gzip), ("identity;q=0.5, *;q=1", .gzip),
            (",,gzip", .gzip),
        ] as [(String, ContentCoding)])
    func `the highest weight wins, gzip before deflate (H111)`(
        field: String, coding: ContentCoding
    ) {
        #expect(ContentCoding.preferred(by: Fields([("Accept-Encoding", field)])) == coding)
    }

    @Test(arguments: [
        "", "identity", "br", "gzip;q=0", "gzip;q=0.000", "*;q=0", "gzip;q=0, deflate;q=0",
        "identity;q=1, gzip;q=0.5", "identity;q=0", "identity;q=0, br", "gzip;q=0, *;q=0",
    ])
    func `a refused coding is not used, and gives no error (H111)`(field: String) {
        #expect(ContentCoding.preferred(by: Fields([("Accept-Encoding", field)])) == nil)
    }

    @Test(arguments: [
        "gzip;q=2", "gzip;q=1.001", "gzip;q=0.1234", "gzip;q=-1", "gzip;q=+1", "gzip;q=",
        "gzip;q=.5", "gzip;q=1,5;", "gzip;level=1", "gzip;q=0.5;x=1", "gz ip", "gzip;q= 1",
        "gzip;q=1e0", "gzip, \"", "gzip;q=a", "gzip;q=0.a",
        String(repeating: ",", count: 17) + "gzip",
    ])
    func `a malformed field gets uncoded content (H111)`(field: String) {
        #expect(ContentCoding.preferred(by: Fields([("Accept-Encoding", field)])) == nil)
    }

    @Test func `a missing field gets uncoded content, and several lines are one list (H111)`() {
        #expect(ContentCoding.preferred(by: Fields([])) == nil)
        let lines = Fields([("Accept-Encoding", "br"), ("Accept-Encoding", "deflate")])
        #expect(ContentCoding.preferred(by: lines) == .deflate)
    }

    @Test(
        arguments: [
            ("gzip", .gzip), ("x-gzip", .gzip), ("GZIP", .gzip), ("deflate", .deflate),
            (" , gzip", .gzip), ("identity", nil), ("", nil),
        ] as [(String, ContentCoding?)])
    func `the coding of a request is read (H117)`(field: String, coding: ContentCoding?) throws {
        #expect(try ContentCoding.of(request(field)) == coding)
    }

    @Test(arguments: [
        "br", "zstd", "compress", "gzip, gzip", "identity, gzip", "gzip, identity", "raw", "\"gzip",
        "gzip;q=1",
    ])
    func `other codings, and several, are not supported (H117)`(field: String) {
        #expect(throws: ContentCoding.Unsupported()) { try ContentCoding.of(request(field)) }
    }

    @Test func `the field is ignored without content (H117)`() throws {
        #expect(try ContentCoding.of(request("br", .none)) == nil)
        #expect(try ContentCoding.of(request("br", .length(0))) == nil)
    }

    private func request(_ coding: String, _ framing: BodyFraming = .chunked) -> Request {
        Request(
            method: .post, target: RequestTarget("/"),
            fields: Fields([("Content-Encoding", coding)]), framing: framing)
    }
}
