internal import Bytes
internal import HTTP

/// Decides what follows each step of a download, without I/O and without a clock (K43).
///
/// Bytes that are here are never requested again, unless the whole differs from its digest. The state outlives an attempt.
struct DownloadMachine: Hashable, Sendable {
    /// What is to be done next.
    enum Action: Hashable, Sendable {
        /// Ask for a signed URL.
        case locate
        /// Request the bytes from a position on.
        case get(String, from: Int64)
        /// Drop what is here from a position on, and append what arrives.
        case receive(at: Int64)
        /// Compare the bytes with their digest, and make them durable.
        case verify
        /// All bytes are here.
        case complete
        /// The download has failed; the part can be downloaded later.
        case fail(ParleyError)
        /// The attempt ends; another one follows after a delay, at least this many seconds.
        case wait(seconds: Int?)
        /// The attempt ends until ``Event/resume``.
        case stop
    }

    /// What has happened.
    enum Event: Hashable, Sendable {
        /// An attempt begins with this many bytes here.
        case start(have: Int64)
        /// The server has signed a URL. It is a credential: it must not be logged.
        case located(String)
        /// The answer has the bytes from a position on.
        case began(at: Int64)
        /// The position is beyond what the server has.
        case unsatisfiable
        /// The body has ended, or broken, with this many bytes here.
        case ended(have: Int64)
        /// Whether the bytes have the digest that the server stated.
        case verified(Bool)
        /// The URL has expired.
        case forbidden
        /// The server no longer has the content.
        case gone
        /// The connection broke, or the server is busy.
        case broken(retryAfter: Int?)
        case pause, resume, cancel
    }

    /// The size in bytes.
    let size: Int64
    /// The number of bytes that are here.
    private(set) var have: Int64 = 0
    private(set) var isPaused: Bool
    private var url: String?
    /// Whether the URL was signed after the last byte arrived.
    private var isFresh = false
    /// Whether the bytes have differed once.
    private(set) var wasCorrupt = false
    /// The last action, after which nothing changes any more.
    private(set) var end: Action?

    init(size: Int64, isPaused: Bool = false) {
        self.size = size
        self.isPaused = isPaused
    }

    /// Takes an event, and returns what is to be done next.
    mutating func handle(_ event: Event) -> Action {
        if let end { return end }
        switch event {
        case .pause:
            isPaused = true
            return .stop
        case .resume: isPaused = false
        case .cancel: return finish(.fail(.cancelled))
        case .start(let have):
            // The last byte is requested again where all are here, because the digest comes with an answer.
            self.have = max(0, min(have, size - 1))
        case .located(let url):
            self.url = url
            isFresh = true
        case .forbidden:
            url = nil
            // A URL that expires at once is no progress.
            if isFresh { return pausing(.wait(seconds: nil)) }
        case .gone: return finish(.fail(.contentGone))
        case .began(let position):
            guard position <= have else { return again() }
            have = position
            return pausing(.receive(at: position))
        case .unsatisfiable: return again()
        case .ended(let have):
            if have > self.have { isFresh = false }
            self.have = have
            guard have <= size else { return again() }
            return pausing(have == size ? .verify : .wait(seconds: nil))
        case .verified(true): return finish(.complete)
        case .verified(false): return again()
        case .broken(let seconds): return pausing(.wait(seconds: seconds))
        }
        return next
    }

    private var next: Action { pausing(url.map { url in .get(url, from: have) } ?? .locate) }

    private func pausing(_ action: Action) -> Action { isPaused ? .stop : action }

    /// The bytes here are not those of the server: once from the start, then no more.
    private mutating func again() -> Action {
        guard !wasCorrupt else { return finish(.fail(.contentCorrupt)) }
        wasCorrupt = true
        have = 0
        return next
    }

    private mutating func finish(_ action: Action) -> Action {
        end = action
        return action
    }
}

extension DownloadMachine.Event {
    /// Reads the head of an answer to a request for bytes from a position on.
    init(status: Int, _ headers: Fields, from position: Int64, size: Int64) {
        switch status {
        case 200:
            // Another length is a page of a proxy.
            let isWhole = headers["content-length"].flatMap { Int64($0) } == size
            self = isWhole ? .began(at: 0) : .broken(retryAfter: nil)
        case 206:
            let isRest = headers["content-range"] == "bytes \(position)-\(size - 1)/\(size)"
            self = isRest ? .began(at: position) : .broken(retryAfter: nil)
        case 403: self = .forbidden
        case 404, 410: self = .gone
        case 416: self = .unsatisfiable
        default:
            self = .broken(retryAfter: headers.retryAfter)
        }
    }
}

/// The SHA-256 of a header `Repr-Digest`: `sha-256=:BASE64:`; `nil` for any other text.
func reprDigest(_ text: String?) -> [UInt8]? {
    let prefix = "sha-256=:"
    for item in (text ?? "").split(separator: ",") {
        let item = item.drop { character in character == " " }
        guard item.hasPrefix(prefix) else { continue }
        return Base64.decode(item.dropFirst(prefix.count).prefix { character in character != ":" })
    }
    return nil
}

extension ParleyError {
    static let contentGone = ParleyError(
        .contentGone, "The server no longer has the content of the part.")
}
