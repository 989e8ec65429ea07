internal import Digests
internal import HTTP
internal import HTTPClient
internal import JSON

/// The requests an upload is made of (uploads §3.8, §5).
struct UploadService: Sendable {
    let target: UploadTarget
    let client: HTTPClient

    /// More of an answer is not read.
    private static let limit = 64 << 10

    /// Announces a content (platform-api §5.4), and the name that downloads are to have.
    func create(
        _ file: SourceFile, type: String
    ) async throws(UploadFailure) -> UploadMemo.Place {
        let answer = try await send(
            ClientRequest(
                .post, target.contents,
                fields: [
                    ("Authorization", "Bearer \(target.token)"),
                    ("Accept", "application/vnd.layer+json; version=3.0"),
                    ("Upload-Content-Type", type), ("Upload-Content-Length", "\(file.size)"),
                    (
                        "Content-Disposition",
                        FileName(untrusted: file.name).disposition(isInline: false)
                    ),
                ], body: .octets([])))
        let json = try? JSONDocument(answer.body).root
        guard answer.status == 201, let url = json?["upload_url"]?.string,
            let content = json?["id"]?.string
        else { throw refusal(answer) }
        return UploadMemo.Place(url: url, content: content)
    }

    /// How many octets the server holds; `nil` when it knows nothing of the upload any more.
    func offset(of url: String) async throws(UploadFailure) -> Int64? {
        let answer = try await send(ClientRequest(.head, url))
        if answer.status == 404 || answer.status == 410 { return nil }
        guard answer.status == 200, let text = answer.fields["Upload-Offset"],
            let offset = Int64(decimal: text.utf8)
        else { throw refusal(answer) }
        return offset
    }

    /// Sends what is behind an offset.
    func send(
        _ file: SourceFile, from offset: Int64, to url: String,
        onSent: @escaping @Sendable (Int64) -> Void
    ) async throws(UploadFailure) -> UploadReceipt {
        // Nothing is sent of what is there: then the last answer is asked for again.
        let isWhole = offset >= file.size
        let range = isWhole ? "*" : "\(offset)-\(file.size - 1)"
        var request = ClientRequest(
            .put, url, fields: [("Content-Range", "bytes \(range)/\(file.size)")],
            body: isWhole
                ? .octets([])
                : .stored(file.size - offset) { count, position in
                    try file.read(count, at: offset + position)
                })
        request.stallsFor = .seconds(60)
        request.onSent = { count in onSent(offset + count) }
        let answer = try await send(request)
        switch answer.status {
        case 200, 201: return UploadReceipt(wholeWith: answer.fields["ETag"])
        case 308: return .incomplete
        case 404, 410: throw UploadFailure("the server has given the upload up", isPassing: true)
        default: throw refusal(answer)
        }
    }

    /// Gives an upload up; whether it is, nobody needs to know.
    func cancel(_ url: String) async {
        // It would expire by itself.
        _ = try? await client.send(ClientRequest(.delete, url), atMost: Self.limit)
    }

    private func send(_ request: ClientRequest) async throws(UploadFailure) -> ClientAnswer {
        do throws(HTTPClientError) {
            return try await client.send(request, atMost: Self.limit)
        } catch {
            throw UploadFailure(error)
        }
    }

    /// What the server says is wrong, in its own words where it has some.
    private func refusal(_ answer: ClientAnswer) -> UploadFailure {
        let json = try? JSONDocument(answer.body).root
        let words = json?["message"]?.string ?? json?["error"]?["message"]?.string
        let isPassing = answer.status >= 500 || answer.status == 429
        return UploadFailure(
            "the server answers \(answer.status)\(words.map { words in ": \(words)" } ?? "")",
            isPassing: isPassing)
    }
}
