import Bytes
import HTTP
import SystemSupport
import Testing

@testable import Uploads

/// One column of table 7.1.
struct InteropColumn: Sendable, CustomTestStringConvertible {
    let version: Int?
    let partStatus: Int
    let finalStatus: Int
    let missingCompleteness: Int
    let otherType: Int
    let lifetimeKey: String?
    let statedStatus: Int
    let appendToComplete: Int
    let overflowKeeps: Bool

    var testDescription: String { version.map { "v\($0)" } ?? "final" }

    static let all = [
        InteropColumn(3, 201, 201, 201, 201, nil, 400, 400, true),
        InteropColumn(4, 201, 201, 201, 201, nil, 400, 400, true),
        InteropColumn(5, 201, 201, 201, 201, nil, 400, 400, true),
        InteropColumn(6, 201, 201, 201, 415, "expires", 400, 400, true),
        InteropColumn(7, 204, 200, 400, 415, "max-age", 204, 400, false),
        InteropColumn(8, 204, 200, 400, 415, "max-age", 204, 200, false),
        InteropColumn(nil, 204, 200, 400, 415, "max-age", 204, 200, false),
    ]

    init(
        _ version: Int?, _ partStatus: Int, _ finalStatus: Int, _ missingCompleteness: Int,
        _ otherType: Int, _ lifetimeKey: String?, _ statedStatus: Int, _ appendToComplete: Int,
        _ overflowKeeps: Bool
    ) {
        self.version = version
        self.partStatus = partStatus
        self.finalStatus = finalStatus
        self.missingCompleteness = missingCompleteness
        self.otherType = otherType
        self.lifetimeKey = lifetimeKey
        self.statedStatus = statedStatus
        self.appendToComplete = appendToComplete
        self.overflowKeeps = overflowKeeps
    }
}

@Suite struct `Each version of the IETF protocol` {
    private let fixture = UploadFixture()

    private func client(_ column: InteropColumn) async throws -> InteropClient {
        InteropClient(uploads: try await fixture.open(), version: column.version)
    }

    @Test(arguments: InteropColumn.all)
    func `creates, appends and completes with its own headers (7.1, 7.6, 7.8)`(
        column: InteropColumn
    ) async throws {
        let client = try await client(column)
        let created = await client.create([1, 2], isComplete: false)
        #expect(created.status == .created)
        #expect(created.fields["Upload-Offset"] == "2")
        #expect(client.isComplete(created) == false)
        #expect(created.fields["Content-Name"] == "content 1")
        let url = try #require(created.fields["Location"])
        let limit = column.lifetimeKey.map { "max-size=2147483648, \($0)=604800" }
        #expect(created.fields["Upload-Limit"] == limit)

        let part = await client.append([3], at: 2, of: url, isComplete: false)
        #expect(part.status.code == column.partStatus)
        #expect(part.fields["Upload-Offset"] == "3")
        #expect(client.isComplete(part) == false)

        let last = await client.append([4], at: 3, of: url, isComplete: true)
        #expect(last.status.code == column.finalStatus)
        #expect(last.fields["Upload-Offset"] == "4")
        #expect(client.isComplete(last) == true)
        #expect((last.fields["Location"] == url) == (client.rules < 7))
        #expect(last.fields["Content-Type"] == "application/json; charset=UTF-8")
        #expect(last.text.contains(#""size":"4""#))
        #expect(last.fields["Repr-Digest"]?.hasPrefix("sha-256=:") == true)

        for answer in [created, part, last] {
            #expect(
                answer.fields["Upload-Draft-Interop-Version"] == column.version.map { "\($0)" })
        }
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: [1, 2, 3, 4])
        )
    }

    @Test(arguments: InteropColumn.all)
    func `returns the offset (7.7)`(column: InteropColumn) async throws {
        let client = try await client(column)
        let url = try await client.started([1, 2])
        for method in [HTTP.Method.head, .get] {
            let other = (name: "Upload-Draft-Interop-Version", value: "9")
            let fields = column.version == nil ? [other] : []
            let answer = await client.send(method, url, fields)
            #expect(answer.status == .noContent)
            #expect(answer.fields["Upload-Offset"] == "2")
            #expect(client.isComplete(answer) == false)
            #expect(answer.fields["Cache-Control"] == "no-store")
        }
    }

    @Test(arguments: InteropColumn.all)
    func `answers an append without completeness (7.1)`(column: InteropColumn) async throws {
        let client = try await client(column)
        let url = try await client.started([1])
        let answer = await client.send(
            .patch, url, [("Upload-Offset", "1"), ("Content-Type", "application/partial-upload")],
            ScriptedBody([2]))
        #expect(answer.status.code == column.missingCompleteness)
    }

    // Without a version, the media type selects the protocol.
    @Test(arguments: InteropColumn.all.filter { $0.version != nil })
    func `answers an append of another media type (7.1)`(column: InteropColumn) async throws {
        let client = try await client(column)
        let url = try await client.started([1])
        let answer = await client.send(
            .patch, url,
            [client.complete(false), ("Upload-Offset", "1"), ("Content-Type", "image/png")],
            ScriptedBody([2]))
        #expect(answer.status.code == column.otherType)
    }

    @Test(arguments: InteropColumn.all.filter { $0.version != nil })
    func `answers a status query that contains an offset (7.1)`(column: InteropColumn) async throws
    {
        let client = try await client(column)
        let url = try await client.started([1])
        for field in [(name: "Upload-Offset", value: "1"), client.complete(false)] {
            let answer = await client.send(.head, url, [field])
            #expect(answer.status.code == column.statedStatus)
        }
        let delete = await client.send(.delete, url, [("Upload-Offset", "1")])
        #expect(delete.status.code == column.statedStatus)
    }

    @Test(arguments: InteropColumn.all)
    func `answers an append to a complete upload (7.1, 7.10)`(column: InteropColumn) async throws {
        let client = try await client(column)
        let url = try await client.started([1])
        let last = await client.append([2], at: 1, of: url, isComplete: true)
        let again = await client.append([], at: 2, of: url, isComplete: true)
        #expect(again.status.code == column.appendToComplete)
        #expect((again.text == last.text) == (client.rules == 8))
        #expect(again.text.contains("completed-upload") == (client.rules == 6 || client.rules == 7))
        let other = await client.append([2], at: 1, of: url, isComplete: true)
        #expect(other.status.code == (client.rules == 8 ? 409 : 400))
    }

    @Test(arguments: InteropColumn.all)
    func `answers bytes beyond the length (4.2)`(column: InteropColumn) async throws {
        let client = try await client(column)
        let url = try await client.uploads.create(UploadFixture.draft(length: 3))
        let body = ScriptedBody([.bytes([1, 2, 3, 4])], length: nil)
        let answer = await client.append(body, at: 0, of: url, isComplete: false)
        #expect(answer.status == .badRequest)
        #expect(client.isComplete(answer) == !column.overflowKeeps)
        let end = await client.append([], at: 3, of: url, isComplete: true)
        #expect(end.status.code == (column.overflowKeeps ? column.finalStatus : 404))
    }

    @Test func `unknown is answered as version 8, without a version header (2, 12)`() async throws {
        let uploads = try await fixture.open()
        let client = InteropClient(uploads: uploads, version: 9)
        let body = ScriptedBody([1])
        let created = await client.send(.post, "/uploads", [("Upload-Complete", "?1")], body)
        #expect(created.status == .ok)
        #expect(created.fields["Upload-Draft-Interop-Version"] == nil)
        #expect(body.interimResponses.isEmpty)
    }
}
