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

    /// A creation by somebody who may.
    ///
    /// - Parameter content: The number of the content that will result; none is the house's own.
    func create(
        _ fields: [(name: String, value: String)], _ body: ScriptedBody = ScriptedBody([]),
        content number: Int? = nil
    ) async -> Response {
        let content = number.map(House.content(number:)) ?? House.content
        return await tus(
            .post, "/uploads", fields + [HouseEntrance.key, ("House-Content", content)], body)
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
