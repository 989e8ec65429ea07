import Bytes
import HTTP
import Testing

@testable import Uploads

@Suite struct `Digests of a download` {
    private let fixture = DownloadFixture()
    private let knowing = DownloadFixture(knowsSHA512: true)

    private func field(_ bytes: some Sequence<UInt8>) -> String {
        "sha-256=:\(Base64.encode(SHA256.digest(of: Array(bytes)))):"
    }

    private func longField(_ bytes: some Sequence<UInt8>) -> String {
        "sha-512=:\(Base64.encode(SHA512.digest(of: Array(bytes)))):"
    }

    /// The value of a header with these digests; `nil` for none.
    private func field(_ bytes: [UInt8], short: Bool, long: Bool) -> String? {
        let digests = (short ? [field(bytes)] : []) + (long ? [longField(bytes)] : [])
        return digests.isEmpty ? nil : digests.joined(separator: ", ")
    }

    @Test(
        arguments: [
            (nil, true, true), ("sha-256=10, sha-512=3", true, true), ("sha-256=1", true, false),
            ("sha-256=0", false, false), ("sha-512=3", false, true), ("md5=10", false, false),
            ("sha-256=1, sha-512=0", true, false), ("sha-256=10;q=1", true, false),
            ("sha-256=10, sha-256=0", false, false),
            // Not a dictionary of weights, so treated as absent.
            ("sha-256", true, true), ("sha-256=11", true, true), ("sha-256=-1", true, true),
            ("sha-256=:AA==:", true, true), ("SHA-256=1", true, true), ("sha-256 = 0", true, true),
            ("sha-256=0,", true, true), ("", true, true),
        ] as [(String?, Bool, Bool)])
    func `of the whole content are sent if known and not declined (9.5)`(
        wanted: String?, short: Bool, long: Bool
    ) async throws {
        let fields = wanted.map { text in [("Want-Repr-Digest", text)] } ?? []
        for (fixture, isKnown) in [(fixture, false), (knowing, true)] {
            let field = field(fixture.bytes, short: short, long: long && isKnown)
            for method in [HTTP.Method.get, .head] {
                let answer = try await fixture.get(fields, method: method)
                #expect(answer.fields["Repr-Digest"] == field)
            }
            let part = try await fixture.get(fields + [("Range", "bytes=0-1")])
            #expect(part.fields["Repr-Digest"] == field)
        }
    }

    @Test(
        arguments: [
            (nil, false, false), ("sha-256=3", true, false), ("sha-256=0", false, false),
            ("sha-512=3", false, true), ("sha-512=3, sha-256=1", true, true),
            ("sha-256", false, false),
        ] as [(String?, Bool, Bool)])
    func `of the response are sent when requested, computed for a part (9.5)`(
        wanted: String?, short: Bool, long: Bool
    ) async throws {
        let fields = wanted.map { text in [("Want-Content-Digest", text)] } ?? []
        for (fixture, isKnown) in [(fixture, false), (knowing, true)] {
            let whole = try await fixture.get(fields)
            #expect(
                whole.fields["Content-Digest"]
                    == field(fixture.bytes, short: short, long: long && isKnown))
        }
        let part = try await fixture.get(fields + [("Range", "bytes=5-9")])
        #expect(
            part.fields["Content-Digest"]
                == field(Array(fixture.bytes[5...9]), short: short, long: long))
        let several = try await fixture.get(fields + [("Range", "bytes=5-9,500-509")])
        #expect(
            several.fields["Content-Digest"]
                == field(fixture.bytes(several), short: short, long: long))
    }

    @Test func `of the response are not sent without content (9.5)`() async throws {
        let preference = [("Want-Content-Digest", "sha-256=3, sha-512=3")]
        let head = try await knowing.get(preference, method: .head)
        #expect(head.fields["Content-Digest"] == nil)
        let unchanged = try await knowing.get(preference + [("If-None-Match", knowing.tag)])
        #expect(unchanged.status == .notModified)
        #expect(unchanged.fields["Content-Digest"] == nil)
    }

    @Test func `of a part above 8 MiB are not sent (9.5)`() async throws {
        let size = 8 << 20
        let fixture = DownloadFixture(size: size + 2)
        let preference = [("Want-Content-Digest", "sha-256=3")]
        let most = try await fixture.get(preference + [("Range", "bytes=1-\(size)")])
        #expect(most.fields["Content-Digest"] == field(fixture.bytes[1...size]))
        let more = try await fixture.get(preference + [("Range", "bytes=1-\(size + 1)")])
        #expect(more.fields["Content-Digest"] == nil)
        #expect(more.fields["Repr-Digest"] == field(fixture.bytes))
    }

    @Test func `are not requested by the obsolete headers (9.5)`() async throws {
        let answer = try await fixture.get([("Want-Digest", "md5, sha-256;q=0"), ("Digest", "x")])
        #expect(answer.fields["Digest"] == nil)
        #expect(answer.fields["Repr-Digest"] == field(fixture.bytes))
    }
}
