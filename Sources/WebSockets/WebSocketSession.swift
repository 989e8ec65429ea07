internal import HTTP

/// The protocol state of one WebSocket without I/O: takes bytes and times, returns what to do next.
struct WebSocketSession: Sendable {
    /// The next action.
    enum Step: Equatable {
        case deliver(WebSocketMessage)
        case ping
        case pong([UInt8])
        /// Stop reading, or resume reading.
        case pause, resume
        /// Send a close frame after everything queued, then wait for the answer.
        case close(CloseCode, String)
        /// Answer the peer's close frame and finish the channel.
        case answer(CloseCode)
        /// Send a close frame with the fault and finish the channel (H142).
        case fail(CloseCode, String)
        /// The peer has answered: finish the channel.
        case finish
        /// The peer has not answered in time.
        case closeTimedOut
    }

    private enum Phase { case open, closing, over }

    private let settings: WebSocketSettings
    private var decoder: FrameDecoder
    private var bucket: RateBucket
    private var phase = Phase.open
    /// Bytes received while reading is paused (H145).
    private var backlog: [UInt8] = []
    private var pausesInRow = 0
    private var framesRead: UInt64 = 0
    private var idleAt = Int64.max
    private var pingAt = Int64.max
    private var resumeAt = Int64.max
    private var closeAt = Int64.max
    private var expireAt = Int64.max
    private var drainAt = Int64.max
    /// The first close code that either side sent.
    private(set) var code = CloseCode.abnormal

    init(_ settings: WebSocketSettings, inflates: Bool) {
        self.settings = settings
        decoder = FrameDecoder(settings.frameLimits(inflates: inflates))
        bucket = RateBucket(perSecond: settings.messagesPerSecond, burst: settings.burst)
    }

    /// The handshake is complete; timeouts start.
    mutating func open(at now: Int64) {
        idleAt = now + settings.idleTimeout
        pingAt = now + settings.pingInterval
    }

    /// When ``tick(at:)`` must be called.
    var deadline: Int64 {
        switch phase {
        case .open: min(idleAt, pingAt, resumeAt, expireAt, drainAt)
        case .closing: min(closeAt, resumeAt)
        case .over: .max
        }
    }

    // MARK: What comes

    /// Decodes until there is something to do or the input is used up.
    mutating func receive(_ input: Span<UInt8>, from index: inout Int, at now: Int64) -> Step? {
        while phase != .over {
            if bucket.isEmpty, let step = slowDown(at: now) { return step }
            guard resumeAt == .max else {
                backlog.append(contentsOf: input.array(index..<input.count))
                index = input.count
                return nil
            }
            do throws(WebSocketFault) {
                let event = try decoder.next(input, at: &index)
                if decoder.framesRead != framesRead {
                    framesRead = decoder.framesRead
                    idleAt = now + settings.idleTimeout
                }
                guard let event else { return nil }
                bucket.refill(at: now)
                if bucket.isFull { pausesInRow = 0 }
                bucket.take()
                if let step = step(for: event) { return step }
            } catch {
                return phase == .open ? fail(error.code, error.reason) : end(with: .finish)
            }
        }
        // Bytes after the last close frame are ignored (H141).
        index = input.count
        return nil
    }

    /// Removes and returns the bytes received while reading was paused, to be decoded now.
    mutating func takeBacklog() -> [UInt8] {
        defer { backlog = [] }
        return backlog
    }

    private mutating func step(for event: FrameDecoder.Event) -> Step? {
        switch event {
        case .close(let code):
            if phase == .closing { return end(with: .finish) }
            self.code = code
            return end(with: .answer(code))
        // After our close frame nothing but the peer's close frame matters.
        case _ where phase == .closing: return nil
        case .message(let message): return .deliver(message)
        case .ping(let payload): return .pong(payload)
        case .pong: return nil
        }
    }

    /// Too many messages: reading pauses for a second; if that happens too often, the socket is
    /// closed.
    private mutating func slowDown(at now: Int64) -> Step? {
        guard resumeAt == .max else { return nil }
        bucket.refill(at: now)
        guard bucket.isEmpty else { return nil }
        pausesInRow += 1
        guard pausesInRow <= settings.maximumThrottledSeconds else {
            return phase == .open
                ? fail(.policyViolation, "too many messages") : end(with: .finish)
        }
        resumeAt = now + 1000
        return .pause
    }

    // MARK: Timeouts

    /// Returns what is due; to be called until it returns `nil`.
    mutating func tick(at now: Int64) -> Step? {
        switch phase {
        case .over: return nil
        case .closing where now >= closeAt: return end(with: .closeTimedOut)
        case .open where now >= expireAt: return close(.sessionEnded, "session ended", at: now)
        case .open where now >= drainAt: return close(.goingAway, "server stops", at: now)
        case .open where now >= idleAt: return close(.goingAway, "nothing came", at: now)
        case .open where now >= pingAt:
            pingAt = now + settings.pingInterval
            return .ping
        case .open, .closing:
            guard now >= resumeAt else { return nil }
            resumeAt = .max
            return .resume
        }
    }

    /// Closes the socket at a time (H146).
    mutating func expire(at time: Int64) { expireAt = time }

    /// Closes the socket at a time, because the server stops (H147).
    mutating func drain(at time: Int64) { drainAt = time }

    // MARK: The end

    /// Begins the closing handshake; `nil` when it has begun already.
    mutating func close(_ code: CloseCode, _ reason: String, at now: Int64) -> Step? {
        guard phase == .open else { return nil }
        self.code = code
        phase = .closing
        closeAt = now + settings.closeTimeout
        return .close(code, reason)
    }

    /// The channel is closed. Returns the close code.
    mutating func disconnect() -> CloseCode {
        _ = end(with: .finish)
        decoder = FrameDecoder(settings.frameLimits(inflates: false))
        return code
    }

    private mutating func fail(_ code: CloseCode, _ reason: String) -> Step {
        self.code = code
        return end(with: .fail(code, reason))
    }

    private mutating func end(with step: Step) -> Step {
        phase = .over
        backlog = []
        return step
    }
}

/// A violation by the peer that ends its WebSocket at once (H142).
package struct WebSocketFault: Error, Equatable, Sendable {
    /// The code of the close frame.
    package let code: CloseCode
    /// The violated rule, such as `H132`.
    package let rule: String
    /// The reason in the close frame, ASCII, at most 123 bytes.
    package let reason: String

    init(_ code: CloseCode, _ rule: String, _ reason: String) {
        self.code = code
        self.rule = rule
        self.reason = reason
    }
}
