import HTTP

@testable import Uploads

/// A request of tus, and what is said of it.
extension Uploads {
    /// A request with its version.
    func tus(
        _ method: HTTP.Method, _ url: String, _ fields: [(name: String, value: String)] = [],
        _ body: ScriptedBody = ScriptedBody([])
    ) async -> Response {
        await send(method, url, [("Tus-Resumable", "1.0.0")] + fields, body)
    }

    /// A `PATCH` at an offset.
    func patch(
        _ url: String, at offset: Int, _ bytes: [UInt8],
        _ fields: [(name: String, value: String)] = []
    ) async -> Response {
        await patch(url, at: offset, ScriptedBody(bytes), fields)
    }

    /// The same with a body of a script.
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

    /// What `HEAD` of tus says is held.
    func tusOffset(_ url: String) async -> String? {
        await tus(.head, url).fields["Upload-Offset"]
    }
}
