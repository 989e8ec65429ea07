import Base64
import Digests
import HTTP
import Testing

@testable import Uploads

@Suite struct `Digests of a download` {
    private let shelf = Shelf()

    private func field(_ bytes: some Sequence<UInt8>) -> String {
        "sha-256=:\(Base64.encode(SHA256.digest(of: Array(bytes)))):"
    }

    @Test(
        arguments: [
            (nil, true), ("sha-256=10, sha-512=3", true), ("sha-256=1", true), ("sha-256=0", false),
            ("sha-512=3", false), ("md5=10", false), ("sha-256=10;q=1", true),
            ("sha-256=10, sha-256=0", false),
            // No dictionary of weights, so as good as not sent.
            ("sha-256", true), ("sha-256=11", true), ("sha-256=-1", true), ("sha-256=:AA==:", true),
            ("SHA-256=1", true), ("sha-256 = 0", true), ("sha-256=0,", true), ("", true),
        ] as [(String?, Bool)])
    func `of the whole are sent unless unwanted (9.5)`(wanted: String?, isSent: Bool) async throws {
        let fields = wanted.map { text in [("Want-Repr-Digest", text)] } ?? []
        for method in [HTTP.Method.get, .head] {
            let answer = try await shelf.get(fields, method: method)
            #expect(answer.fields["Repr-Digest"] == (isSent ? field(shelf.bytes) : nil))
        }
        let part = try await shelf.get(fields + [("Range", "bytes=0-1")])
        #expect(part.fields["Repr-Digest"] == (isSent ? field(shelf.bytes) : nil))
    }

    @Test(
        arguments: [
            (nil, false), ("sha-256=3", true), ("sha-256=0", false), ("sha-512=3", false),
            ("sha-256", false),
        ] as [(String?, Bool)])
    func `of the answer are sent when wanted (9.5)`(wanted: String?, isSent: Bool) async throws {
        let fields = wanted.map { text in [("Want-Content-Digest", text)] } ?? []
        let whole = try await shelf.get(fields)
        #expect(whole.fields["Content-Digest"] == (isSent ? field(shelf.bytes) : nil))
        let part = try await shelf.get(fields + [("Range", "bytes=5-9")])
        #expect(part.fields["Content-Digest"] == (isSent ? field(shelf.bytes[5...9]) : nil))
        let several = try await shelf.get(fields + [("Range", "bytes=5-9,500-509")])
        #expect(several.fields["Content-Digest"] == (isSent ? field(shelf.bytes(several)) : nil))
    }

    @Test func `of the answer are not sent where there is no content (9.5)`() async throws {
        let wish = [("Want-Content-Digest", "sha-256=3")]
        let head = try await shelf.get(wish, method: .head)
        #expect(head.fields["Content-Digest"] == nil)
        let unchanged = try await shelf.get(wish + [("If-None-Match", shelf.tag)])
        #expect(unchanged.status == .notModified)
        #expect(unchanged.fields["Content-Digest"] == nil)
    }

    @Test func `of a part above 8 MiB are not sent (9.5)`() async throws {
        let size = 8 << 20
        let shelf = Shelf(size: size + 2)
        let wish = [("Want-Content-Digest", "sha-256=3")]
        let most = try await shelf.get(wish + [("Range", "bytes=1-\(size)")])
        #expect(most.fields["Content-Digest"] == field(shelf.bytes[1...size]))
        let more = try await shelf.get(wish + [("Range", "bytes=1-\(size + 1)")])
        #expect(more.fields["Content-Digest"] == nil)
        #expect(more.fields["Repr-Digest"] == field(shelf.bytes))
    }

    @Test func `are not asked for by the fields of older times (9.5)`() async throws {
        let answer = try await shelf.get([("Want-Digest", "md5, sha-256;q=0"), ("Digest", "x")])
        #expect(answer.fields["Digest"] == nil)
        #expect(answer.fields["Repr-Digest"] == field(shelf.bytes))
    }
}
