import HTTP
import Testing

@testable import Uploads

// Requests of tus.
extension Uploads {
    /// A request with the version header.
    func tus(
        _ method: HTTP.Method, _ url: String, _ fields: [(name: String, value: String)] = [],
        _ body: ScriptedBody = ScriptedBody([])
    ) async -> Response {
        await send(method, url, [("Tus-Resumable", "1.0.0")] + fields, body)
    }

    /// A creation with a valid credential.
    ///
    /// - Parameter content: The number of the new content; the fixture's own by default.
    func create(
        _ fields: [(name: String, value: String)], _ body: ScriptedBody = ScriptedBody([]),
        content number: Int? = nil
    ) async -> Response {
        let content = number.map(UploadFixture.content(number:)) ?? UploadFixture.content
        return await tus(
            .post, "/uploads", fields + [TestUploadAuthorizer.key, ("Test-Content", content)], body)
    }

    /// A `PATCH` at an offset.
    func patch(
        _ url: String, at offset: Int, _ bytes: [UInt8],
        _ fields: [(name: String, value: String)] = []
    ) async -> Response {
        await patch(url, at: offset, ScriptedBody(bytes), fields)
    }

    /// The same with a scripted body.
    func patch(
        _ url: String, at offset: Int, _ body: ScriptedBody,
        _ fields: [(name: String, value: String)] = []
    ) async -> Response {
        await tus(
            .patch, url,
            [
                ("Content-Type", "application/offset+octet-stream"),
                ("Upload-Offset", "\(offset)"),
            ] + fields, body)
    }

    /// The offset that `HEAD` of tus returns.
    func tusOffset(_ url: String) async -> String? {
        await tus(.head, url).fields["Upload-Offset"]
    }
}

/// A client of protocol C, with the headers that each version needs.
struct InteropClient: Sendable {
    static let versions = [3, 4, 5, 6, 7, 8]

    let uploads: Uploads
    /// `nil` sends no version header, as the RFC will.
    let version: Int?

    var rules: Int { version ?? 8 }

    /// The completeness field of this version, with the meaning of `Upload-Complete`.
    func complete(_ isComplete: Bool) -> (name: String, value: String) {
        rules == 3
            ? ("Upload-Incomplete", isComplete ? "?0" : "?1")
            : ("Upload-Complete", isComplete ? "?1" : "?0")
    }

    /// The value of a response's completeness field in this version.
    func isComplete(_ response: Response) -> Bool? {
        let field: FieldName = rules == 3 ? "Upload-Incomplete" : "Upload-Complete"
        return response.fields[field].map { $0 == complete(true).value }
    }

    func create(
        _ bytes: [UInt8], isComplete: Bool, at url: String = "/uploads",
        _ fields: [(name: String, value: String)] = []
    ) async -> Response {
        await send(.post, url, [complete(isComplete)] + fields, ScriptedBody(bytes))
    }

    func append(
        _ bytes: [UInt8], at offset: Int, of url: String, isComplete: Bool,
        _ fields: [(name: String, value: String)] = []
    ) async -> Response {
        await append(ScriptedBody(bytes), at: offset, of: url, isComplete: isComplete, fields)
    }

    func append(
        _ body: ScriptedBody, at offset: Int, of url: String, isComplete: Bool,
        _ fields: [(name: String, value: String)] = []
    ) async -> Response {
        await send(
            .patch, url,
            [
                complete(isComplete), ("Upload-Offset", "\(offset)"),
                ("Content-Type", "application/partial-upload"),
            ] + fields, body)
    }

    func send(
        _ method: HTTP.Method, _ url: String, _ fields: [(name: String, value: String)] = [],
        _ body: ScriptedBody = ScriptedBody([])
    ) async -> Response {
        var all = [TestUploadAuthorizer.key] + fields
        if let version { all.append(("Upload-Draft-Interop-Version", "\(version)")) }
        return await uploads.send(method, url, all, body)
    }

    /// Creates an upload that has these bytes and expects more.
    func started(_ bytes: [UInt8] = []) async throws -> String {
        let answer = await create(bytes, isComplete: false)
        #expect(answer.status == .created)
        return try #require(answer.fields["Location"])
    }
}
