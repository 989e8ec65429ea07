import Blobs
import HTTP
import ObjectStore
import Testing

@testable import Uploads

/// Numbers whose successor, or sum with another one, may overflow.
private let numbers = [
    "-1", "0", "1", "2147483648", "68719476736", "9007199254740992", "9223372036854775807",
    "9223372036854775808", "1000000000000000000000000000000",
]

/// One request with a number in it.
private struct NumberCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let send: @Sendable (Uploads, String) async throws -> Response

    init(
        _ name: String, _ send: @escaping @Sendable (Uploads, String) async throws -> Response
    ) {
        testDescription = name
        self.send = send
    }

    /// At an upload of unknown length that holds two bytes.
    private static func at(
        _ method: HTTP.Method, _ fields: [(name: String, value: String)]
    ) -> NumberCase {
        NumberCase("\(method.rawValue) \(fields.map { "\($0.name): \($0.value)" })") {
            uploads, number in
            let made = await uploads.create([("Upload-Defer-Length", "1")])
            let url = try #require(made.fields["Location"])
            #expect(await uploads.patch(url, at: 0, [1, 2]).status == .noContent)
            return await uploads.send(method, url, filled(fields, number), ScriptedBody([3]))
        }
    }

    /// At the creation endpoint.
    private static func creation(
        _ fields: [(name: String, value: String)], _ body: [UInt8] = []
    ) -> NumberCase {
        NumberCase("creation \(fields.map { "\($0.name): \($0.value)" })") { uploads, number in
            await uploads.send(
                .post, "/uploads", filled(fields, number) + [TestUploadAuthorizer.key],
                ScriptedBody(body))
        }
    }

    private static func filled(
        _ fields: [(name: String, value: String)], _ number: String
    ) -> [(name: String, value: String)] {
        fields.map { name, value in
            let words = value.split(separator: "N", omittingEmptySubsequences: false)
            return (name, words.joined(separator: number))
        }
    }

    private static let tus = (name: "Tus-Resumable", value: "1.0.0")
    private static let data = (name: "Content-Type", value: "application/offset+octet-stream")
    private static let partial = (name: "Content-Type", value: "application/partial-upload")

    static let all: [NumberCase] = sessions + tusRequests + drafts

    private static var sessions: [NumberCase] {
        let ranges = [
            "bytes N-N/*", "bytes 0-N/*", "bytes 2-N/*", "bytes N-*/*", "bytes 2-2/N",
            "bytes 0-N/N", "bytes N-*/N", "bytes 2-*/N", "bytes */N",
        ]
        var cases = [
            creation([("X-Upload-Content-Length", "N")]), size(quote: "\""), size(quote: ""),
        ]
        for range in ranges {
            cases.append(at(.put, [("Content-Range", range)]))
            cases.append(at(.post, [("Content-Range", range)]))
        }
        return cases
    }

    /// The length in the JSON of a session.
    private static func size(quote: String) -> NumberCase {
        NumberCase("size in JSON, quoted by '\(quote)'") { uploads, number in
            let json = "{\"size\":\(quote)\(number)\(quote)}"
            return await uploads.send(
                .post, "/uploads?uploadType=resumable", [TestUploadAuthorizer.key],
                ScriptedBody(Array(json.utf8)))
        }
    }

    private static let tusRequests: [NumberCase] = [
        creation([tus, ("Upload-Length", "N")]),
        creation([tus, ("Upload-Defer-Length", "N")]),
        creation([tus, ("Upload-Length", "N"), data], [1, 2, 3]),
        creation([tus, ("Upload-Concat", "partial"), ("Upload-Length", "N")]),
        at(.patch, [tus, data, ("Upload-Offset", "N")]),
        at(.patch, [tus, data, ("Upload-Offset", "2"), ("Upload-Length", "N")]),
        NumberCase("final concatenation") { uploads, number in
            var urls: [String] = []
            for content in 1...2 {
                let made = await uploads.create(
                    [("Upload-Concat", "partial"), ("Upload-Length", "2")], content: content)
                let url = try #require(made.fields["Location"])
                #expect(await uploads.patch(url, at: 0, [1, 2]).status == .noContent)
                urls.append(url)
            }
            return await uploads.create([
                ("Upload-Concat", "final;\(urls[0]) \(urls[1])"), ("Upload-Length", number),
            ])
        },
    ]

    private static var drafts: [NumberCase] {
        typealias Field = (name: String, value: String)
        let interop = "Upload-Draft-Interop-Version"
        var cases: [NumberCase] = []
        for version in [3, 6, 8] {
            let number: Field = (interop, "\(version)")
            let name = version == 3 ? "Upload-Incomplete" : "Upload-Complete"
            for value in ["?0", "?1"] {
                let end: Field = (name, value)
                cases.append(creation([number, end, ("Upload-Length", "N")], [1]))
                cases.append(creation([number, end, ("Upload-Offset", "N")], [1]))
                cases.append(at(.put, [number, end, ("Upload-Length", "N")]))
                cases.append(at(.patch, [number, end, partial, ("Upload-Offset", "N")]))
                let offset: Field = ("Upload-Offset", "2")
                cases.append(at(.patch, [number, end, partial, offset, ("Upload-Length", "N")]))
            }
            cases.append(at(.head, [number, ("Upload-Offset", "N")]))
        }
        cases.append(creation([(interop, "N"), ("Upload-Complete", "?1")], [1]))
        cases.append(at(.put, [(interop, "N")]))
        return cases
    }
}

@Suite struct `Numbers in a request` {
    /// Largest lengths: the default, the largest that can be set, and none.
    @Test(arguments: NumberCase.all, [2_147_483_648, 1 << 50, Int64.max])
    fileprivate func `are accepted or refused without a crash (0)`(
        row: NumberCase, largest: Int64
    ) async throws {
        let fixture = UploadFixture(bucket: nil) { settings in
            settings.maxUploadSize = largest
            // So that no disk space is reserved for bytes that never arrive.
            settings.applicationQuota = 1 << 20
        }
        for number in numbers {
            let uploads = try await fixture.open()
            let answer = try await row.send(uploads, number)
            let code = answer.status.code
            // 507: more than the application may store.
            #expect(
                (200..<500).contains(code) || code == 507 || answer.ending == .drop,
                "\(number): \(code) \(answer.text)")
        }
    }

    @Test(arguments: [Int64(0), 1, 1 << 31, 1 << 36, 1 << 53, .max])
    func `can be the length of a body (4.1)`(length: Int64) async throws {
        // No disk space is reserved for bytes that never arrive.
        let fixture = UploadFixture(bucket: nil) { $0.maxUploadSize = 1 << 20 }
        let uploads = try await fixture.open()
        typealias Fields = [(name: String, value: String)]
        let range: Fields = [("Content-Range", "bytes 2-*/*")]
        let tus: Fields = [
            ("Tus-Resumable", "1.0.0"), ("Content-Type", "application/offset+octet-stream"),
            ("Upload-Offset", "2"),
        ]
        let draft: Fields = [
            ("Upload-Draft-Interop-Version", "8"), ("Content-Type", "application/partial-upload"),
            ("Upload-Offset", "2"), ("Upload-Complete", "?1"),
        ]
        for protocolFields in [[], range, tus, draft] {
            let made = await uploads.create([("Upload-Defer-Length", "1")])
            let url = try #require(made.fields["Location"])
            #expect(await uploads.patch(url, at: 0, [1, 2]).status == .noContent)
            let method: HTTP.Method = protocolFields.count > 1 ? .patch : .put
            let answer = await uploads.send(
                method, url, protocolFields, ScriptedBody([], length: length))
            #expect((200..<500).contains(answer.status.code), "\(answer.status.code)")
        }
    }

    @Test(arguments: numbers) func `can be in a range of a download (9.4)`(number: String) {
        for size: Int64 in [0, 1, 1 << 31, .max - 1] {
            let texts = [
                "\(number)-", "-\(number)", "0-\(number)", "\(number)-\(number)",
                "0-0,\(number)-", "-1,-\(number)",
            ]
            for text in texts {
                guard case .parts(let ranges) = ByteRanges("bytes=\(text)", size: size, limit: 8)
                else { continue }
                #expect(ranges.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= size })
            }
        }
    }
}

@Suite struct `Numbers in stored records` {
    private static let all: [Int64] = [
        .min, -1, 0, 1, 1 << 31, 1 << 36, 1 << 53, 1 << 62, .max,
    ]

    @Test(arguments: all) func `of an upload are usable or refused`(number: Int64) {
        var record = UploadRecord(
            UploadFixture.draft(length: 9), creation: .tus, at: 0, lifetime: 1)
        var made: [UploadRecord] = []
        record.length = number
        made.append(record)
        record.length = nil
        record.offset = number
        made.append(record)
        record.offset = 0
        record.expiresAt = number
        made.append(record)
        for record in made {
            guard let read = UploadRecord(record.bytes) else { continue }
            var ledger = UploadLedger()
            if let name = BlobName(UploadFixture.content) {
                ledger.enter(name, read, unknown: 64 << 20, atMost: .max)
            }
            #expect(read.offset >= 0 && read.offset <= read.length ?? .max)
            #expect(read.expiresAt.addingReportingOverflow(3650 * 86_400_000).overflow == false)
        }
    }

    @Test(arguments: all) func `of parts have a sum or are refused`(number: Int64) throws {
        for longest in Self.all where longest >= 0 {
            if number > 0 { #expect(StoredParts(partSize: number, longest: longest).stride >= 1) }
        }
        var held = StoredParts(partSize: 8 << 20, longest: 1 << 31)
        held.parts = (1...3).map { place in ObjectPart(number: place, size: number, tag: "t") }
        let found = StoredParts(held.bytes)
        guard (0...PartSize.largest).contains(number) else {
            #expect(found == nil)
            return
        }
        let read = try #require(found)
        #expect(read.base == 3 * number)
        #expect(read.nextNumber(.max) > 0)
    }

    @Test(arguments: all) func `of a journal of parts have a sum or are refused`(number: Int64) {
        let head = JournaledParts(upload: "u", partSize: number).head
        let entries = [head] + (0..<3).map { JournaledParts.entry("t\($0)") }
        guard let parts = JournaledParts(entries) else { return }
        #expect(parts.end == 3 * number)
        #expect(parts.parts(of: parts.end).count == 3)
    }
}
