internal import Bytes
internal import HTTP
internal import JSON

/// Decides what follows each step of an upload, without I/O and without a clock (K37).
///
/// The server alone knows the offset: after any break it is queried, and the upload goes on from there. The state outlives
/// an attempt, so the next one goes on where the last one has ended.
struct UploadMachine: Hashable, Sendable {
    /// A content that the server has announced, and the URL to which its bytes go.
    struct Location: Hashable, Sendable {
        /// A credential: it must not be logged.
        let url: String
        /// The id of the content, as the server writes it.
        let content: String
    }

    /// What is to be done next.
    enum Action: Hashable, Sendable {
        /// Announce the content.
        case create
        /// Ask how many bytes the server has.
        case query(Location)
        /// Send the bytes from an offset on; all of them are there if it is the size.
        case send(Location, from: Int64)
        /// Delete what the server has; then ``Event/deleted``, whatever the answer.
        case delete(Location)
        /// The server has all bytes.
        case complete
        /// The message has failed.
        case fail(ParleyError)
        /// The attempt ends; another one follows after a delay, at least this many seconds.
        case wait(seconds: Int?)
        /// The attempt ends until ``Event/resume``.
        case stop
    }

    /// What has happened.
    enum Event: Hashable, Sendable {
        /// An attempt begins.
        case start
        case created(Location)
        /// The number of bytes that the server has.
        case offset(Int64)
        /// The server has all bytes; whether they are those of the file, `nil` if it did not say.
        case completed(isSame: Bool?)
        /// The server has stopped reading.
        case incomplete
        /// The server no longer knows the upload.
        case gone
        case deleted
        /// The connection broke, or the server is busy.
        case broken(retryAfter: Int?)
        /// The server will never take the bytes.
        case refused(ParleyError)
        case pause, resume, cancel
    }

    /// The size in bytes.
    let size: Int64
    /// `nil` before the content was announced.
    private(set) var location: Location?
    /// The number of bytes that the server had when it was last asked.
    private(set) var offset: Int64
    private(set) var isPaused: Bool
    /// Whether the bytes have differed once.
    private(set) var wasCorrupt = false
    /// What follows after the deletion under way: another attempt from the start, or a failure.
    private var afterDeletion: Action?
    /// The last action, after which nothing changes any more.
    private(set) var end: Action?

    init(size: Int64, location: Location? = nil, offset: Int64 = 0, isPaused: Bool = false) {
        self.size = size
        self.location = location
        self.offset = location == nil ? 0 : offset
        self.isPaused = isPaused
    }

    /// Takes an event, and returns what is to be done next.
    mutating func handle(_ event: Event) -> Action {
        if let end { return end }
        switch event {
        case .pause:
            isPaused = true
            return .stop
        case .cancel: return delete(then: .fail(.cancelled))
        case .resume:
            isPaused = false
            return next
        case .deleted:
            let next = afterDeletion ?? .create
            (location, offset, afterDeletion) = (nil, 0, nil)
            if case .fail = next { return finish(next) }
            return isPaused ? .stop : next
        case .refused(let error): return finish(.fail(error))
        case .created(let location): (self.location, offset) = (location, 0)
        case .gone: (location, offset) = (nil, 0)
        case .offset(let offset):
            self.offset = offset
            if let location, !isPaused { return .send(location, from: min(offset, size)) }
        case .completed(isSame: false):
            defer { wasCorrupt = true }
            return delete(then: wasCorrupt ? .fail(.contentCorrupt) : .create)
        case .completed:
            offset = size
            return finish(.complete)
        case .broken(let seconds): return isPaused ? .stop : .wait(seconds: seconds)
        case .incomplete: return isPaused ? .stop : .wait(seconds: nil)
        case .start: break
        }
        return next
    }

    /// What begins an attempt: the announcement, or the question for the offset.
    private var next: Action {
        guard !isPaused else { return .stop }
        return location.map { location in .query(location) } ?? .create
    }

    private mutating func delete(then next: Action) -> Action {
        guard let location else {
            if case .fail = next { return finish(next) }
            return next
        }
        afterDeletion = next
        return .delete(location)
    }

    private mutating func finish(_ action: Action) -> Action {
        end = action
        return action
    }
}

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
            self = .broken(retryAfter: response.headers["retry-after"].flatMap { Int($0) })
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

extension ParleyError {
    static let contentCorrupt = ParleyError(
        .contentCorrupt, "The bytes differ from their digest, twice in turn.")
}
