internal import Bytes
internal import HTTP
internal import HTTPClient
internal import JSON

/// The HTTP requests of an upload (uploads §3.8, §5).
struct UploadService: Sendable {
    let target: UploadTarget
    let client: HTTPClient

    /// The maximum size of a response body that is read, in bytes.
    private static let limit = 64 << 10

    /// Announces content (platform-api §5.4) with the file name for downloads.
    func create(
        _ file: SourceFile, type: String
    ) async throws(UploadFailure) -> ResumeFile.StartedUpload {
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
                ], body: .bytes([])))
        let json = try? JSONDocument(answer.body).root
        guard answer.status == 201, let url = json?["upload_url"]?.string,
            let content = json?["id"]?.string
        else { throw refusal(answer) }
        return ResumeFile.StartedUpload(url: url, content: content)
    }

    /// The number of bytes that the server has; `nil` when the upload does not exist any more.
    func offset(of url: String) async throws(UploadFailure) -> Int64? {
        let answer = try await send(ClientRequest(.head, url))
        if answer.status == 404 || answer.status == 410 { return nil }
        guard answer.status == 200, let text = answer.fields["Upload-Offset"],
            let offset = Int64(decimal: text.utf8)
        else { throw refusal(answer) }
        return offset
    }

    /// Sends the bytes from an offset on.
    func send(
        _ file: SourceFile, from offset: Int64, to url: String,
        onBytesSent: @escaping @Sendable (Int64) -> Void
    ) async throws(UploadFailure) -> UploadReceipt {
        // When all bytes are there, only the final response is requested again.
        let isWhole = offset >= file.size
        let range = isWhole ? "*" : "\(offset)-\(file.size - 1)"
        var request = ClientRequest(
            .put, url, fields: [("Content-Range", "bytes \(range)/\(file.size)")],
            body: isWhole
                ? .bytes([])
                : .stored(file.size - offset) { count, position in
                    try file.read(count, at: offset + position)
                })
        request.stallTimeout = .seconds(60)
        request.onBytesSent = { count in onBytesSent(offset + count) }
        let answer = try await send(request)
        switch answer.status {
        case 200, 201: return UploadReceipt(wholeWith: answer.fields["ETag"])
        case 308: return .incomplete
        case 404, 410: return .gone
        default: throw refusal(answer)
        }
    }

    /// Cancels an upload, ignoring errors.
    func cancel(_ url: String) async {
        // On failure the upload expires by itself.
        _ = try? await client.send(ClientRequest(.delete, url), bodyLimit: Self.limit)
    }

    private func send(_ request: ClientRequest) async throws(UploadFailure) -> ClientResponse {
        do throws(HTTPClientError) {
            return try await client.send(request, bodyLimit: Self.limit)
        } catch {
            throw UploadFailure(error)
        }
    }

    /// The server's error message, where it sends one.
    private func refusal(_ answer: ClientResponse) -> UploadFailure {
        let json = try? JSONDocument(answer.body).root
        let words = json?["message"]?.string ?? json?["error"]?["message"]?.string
        let isTransient = answer.status >= 500 || answer.status == 429
        return UploadFailure(
            "the server answers \(answer.status)\(words.map { words in ": \(words)" } ?? "")",
            isTransient: isTransient)
    }
}

/// The server's response to sent bytes.
enum UploadReceipt: Equatable {
    /// Bytes are missing.
    case incomplete
    /// The upload has expired or was cancelled.
    case gone
    /// The server has all bytes; with their SHA-256 in lower-case hexadecimal digits, or `nil` when it reports
    /// none.
    case whole(sha256: String?)

    /// Parses the `ETag` of a final response.
    ///
    /// A proxy that compresses responses makes the tag weak (`W/"…"`); it still identifies the content.
    init(wholeWith tag: String?) {
        var text = (tag ?? "")[...]
        if text.hasPrefix("W/") { text = text.dropFirst(2) }
        let digits = text.filter { character in character != "\"" }.lowercased()
        let isDigest =
            digits.utf8.count == 64
            && digits.utf8.allSatisfy { byte in "0123456789abcdef".utf8.contains(byte) }
        self = .whole(sha256: isDigest ? digits : nil)
    }
}
