/// Decides what follows each step of an upload, without I/O and without a clock (K37).
///
/// The server alone knows the offset: after any break it is queried, and the upload goes on from there. The state outlives
/// an attempt, so the next one goes on where the last one has ended.
///
/// `Failure` is the error of a server that will never take the bytes.
package struct UploadMachine<Failure: Error & Hashable>: Hashable, Sendable {
    /// A content that the server has announced, and the URL to which its bytes go.
    package struct Location: Hashable, Sendable {
        /// A credential: it must not be logged.
        package let url: String
        /// The id of the content, as the server writes it.
        package let content: String

        /// A location.
        package init(url: String, content: String) {
            self.url = url
            self.content = content
        }
    }

    /// What is to be done next.
    package enum Action: Hashable, Sendable {
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
        /// The upload has failed.
        case fail(Reason)
        /// The attempt ends; another one follows after a delay, at least this many seconds.
        case wait(seconds: Int?)
        /// The attempt ends until ``Event/resume``.
        case stop
    }

    /// Why an upload has failed.
    package enum Reason: Hashable, Sendable {
        case cancelled
        /// The server has other bytes than the file.
        case corrupt
        case refused(Failure)
    }

    /// What has happened.
    package enum Event: Hashable, Sendable {
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
        case refused(Failure)
        case pause, resume, cancel
    }

    /// The size in bytes.
    package let size: Int64
    /// `nil` before the content was announced.
    package private(set) var location: Location?
    /// The number of bytes that the server had when it was last asked.
    package private(set) var offset: Int64
    package private(set) var isPaused: Bool
    /// Whether bytes that differ are sent once more.
    private var resendsCorrupt: Bool
    /// What follows after the deletion under way: another attempt from the start, or a failure.
    private var afterDeletion: Action?
    /// The last action, after which nothing changes any more.
    package private(set) var end: Action?

    /// An upload that has not begun, or that goes on.
    ///
    /// - Parameter resendsCorrupt: Whether bytes that differ at the server are sent once more.
    package init(
        size: Int64, location: Location? = nil, offset: Int64 = 0, isPaused: Bool = false,
        resendsCorrupt: Bool = true
    ) {
        self.size = size
        self.resendsCorrupt = resendsCorrupt
        self.location = location
        self.offset = location == nil ? 0 : offset
        self.isPaused = isPaused
    }

    /// Takes an event, and returns what is to be done next.
    package mutating func handle(_ event: Event) -> Action {
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
        case .refused(let error): return finish(.fail(.refused(error)))
        case .created(let location): (self.location, offset) = (location, 0)
        case .gone: (location, offset) = (nil, 0)
        case .offset(let offset):
            // One behind the last byte is not an answer to this upload.
            guard offset >= 0, offset <= size else { return isPaused ? .stop : .wait(seconds: nil) }
            self.offset = offset
            if let location, !isPaused { return .send(location, from: offset) }
        case .completed(isSame: false):
            defer { resendsCorrupt = false }
            return delete(then: resendsCorrupt ? .create : .fail(.corrupt))
        case .completed:
            offset = size
            return finish(.complete)
        case .broken(let seconds): return isPaused ? .stop : .wait(seconds: seconds)
        case .incomplete: return isPaused ? .stop : .wait(seconds: nil)
        case .start: break
        }
        return next
    }

    /// What begins an attempt: the announcement, the question for the offset, or the deletion that was interrupted.
    private var next: Action {
        guard !isPaused else { return .stop }
        guard let location else { return .create }
        return afterDeletion == nil ? .query(location) : .delete(location)
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
