internal import Bytes
internal import HTTP
internal import JSON
internal import Transfers

typealias UploadMachine = Transfers.UploadMachine<ParleyError>

extension UploadMachine.Event {
    /// Reads an answer of the server.
    ///
    /// - Parameters:
    ///   - digest: The SHA-256 of the file; needed for the answer to the last byte only.
    init(_ response: TransportResponse, to action: UploadMachine.Action, digest: [UInt8]? = nil) {
        let body = (try? JSONDocument(response.body))?.root
        let error = ParleyError(status: response.status, body)
        switch (response.status, action) {
        case (201, .create):
            guard let url = body?["upload_url"]?.string, let content = body?["id"]?.string else {
                self = .broken(retryAfter: nil)
                return
            }
            self = .created(UploadMachine.Location(url: url, content: content))
        case (200, .query):
            guard let offset = response.headers["upload-offset"].flatMap({ Int64($0) }), offset >= 0
            else {
                self = .broken(retryAfter: nil)
                return
            }
            self = .offset(offset)
        case (200, .send), (201, .send):
            // A proxy's page is not the answer of the server.
            guard body?.kind == .object else {
                self = .broken(retryAfter: nil)
                return
            }
            let stored = Self.digest(response.headers["etag"])
            self = .completed(isSame: stored.flatMap { stored in digest.map { stored == $0 } })
        case (308, .send): self = .incomplete
        case (404, .query), (410, .query), (404, .send), (410, .send): self = .gone
        case (408, _), (425, _), (429, _), (500..., _):
            self = .broken(retryAfter: response.headers.retryAfter)
        case (413, _): self = .refused(error)
        case (400..., .create), (400..., .send):
            self = error.server == nil ? .broken(retryAfter: nil) : .refused(error)
        default: self = .broken(retryAfter: nil)
        }
    }

    /// The SHA-256 in an entity tag, also in a weak one, as a proxy makes it; `nil` for any other tag.
    private static func digest(_ tag: String?) -> [UInt8]? {
        var text = (tag ?? "")[...]
        if text.hasPrefix("W/") { text = text.dropFirst(2) }
        let digits = Array(text.utf8.filter { byte in byte != UInt8(ascii: "\"") })
        guard digits.count == 2 * SHA256.size else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}

extension UploadMachine.Reason {
    /// Why the message of the upload has failed.
    var error: ParleyError {
        switch self {
        case .cancelled: .cancelled
        case .corrupt: .contentCorrupt
        case .refused(let error): error
        }
    }
}

extension ParleyError {
    static let contentCorrupt = ParleyError(
        .contentCorrupt, "The bytes differ from their digest, twice in turn.")
}
