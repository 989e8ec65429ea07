import HTTP

/// The parser of an incomplete request head; allocated only by a connection that waits for the rest of a
/// head.
final class PartialHead {
    fileprivate var parser: RequestParser

    init(_ parser: RequestParser) { self.parser = parser }
}

// MARK: Parsing and routing
extension Connection {
    /// Parses a request head, and starts its request when the head is complete.
    ///
    /// - Returns: The number of bytes used; 0 while the head is incomplete.
    func processHead(_ bytes: Span<UInt8>) -> Int {
        switch parseHead(bytes) {
        case .incomplete: return 0
        case .refused(let refusal):
            partialHead = nil
            // The prefix is copied inside the call.
            let headPrefix = bytes.extracting(first: RequestRecord.headPrefixLimit)
            refuse(
                refusal, bytesIn: Int64(bytes.count),
                headPrefix: unsafe headPrefix.withUnsafeBytes { bytes in unsafe Array(bytes) })
            return bytes.count
        case .head(let head, let count):
            partialHead = nil
            start(head, bytesIn: Int64(count))
            return count
        }
    }

    /// Parses a head with the loop's parser, which is enough for heads that arrive whole; an incomplete head
    /// gets its own parser.
    private func parseHead(_ bytes: Span<UInt8>) -> RequestParser.Outcome {
        if let partialHead { return partialHead.parser.parse(bytes) }
        loop.parser.reset()
        let outcome = loop.parser.parse(bytes)
        if case .incomplete = outcome {
            partialHead = PartialHead(loop.parser)
            // The time limit counts from the first byte, and later bytes do not extend it (H174). The limit
            // of the first head of a connection counts from its accept.
            if requestCount > 0 { setPhaseDeadline(loop.now + configuration.headerTimeout) }
        }
        return outcome
    }

    /// Starts a request whose head is complete.
    private func start(_ head: consuming RequestHead, bytesIn: Int64) {
        requestCount += 1
        if !head.persists || requestCount >= configuration.maximumRequests
            || loop.now > retiresAt || server.isDraining
        {
            mustClose = true
        }
        let origin = isTrusted ? configuration.trust.origin(of: head.fields, from: peer) : nil
        let client = origin?.client ?? peer
        var id = loop.nextRequestID()
        if isTrusted { id = configuration.trust.id(of: head.fields, or: id) }
        let traits = RequestTraits(head)
        var record = RequestRecord(
            id: id, method: head.method?.rawValue ?? "", route: "", status: 0,
            bytesIn: bytesIn, bytesOut: 0, duration: 0, peer: client)
        if isTrusted { record.trace = TraceParent(head.fields) }
        let startedAt = loop.clock.nanoseconds
        guard let method = head.method, head.recoverableRefusal == nil else {
            var response = refusal(of: head, id: record.id, peer: client)
            if !traits.framing.announcesContent { response.ending = .keep }
            return answer(
                response, traits, &record, since: startedAt,
                bytesToDiscard: traits.framing.announced)
        }
        if socket.isMisdirected(head.fields) {
            let refusal = Refusal(
                .misdirected, "H38", "This connection was opened for another host.")
            var response = server.service.refusal(refusal)
            if !traits.framing.announcesContent { response.ending = .keep }
            return answer(
                response, traits, &record, since: startedAt,
                bytesToDiscard: traits.framing.announced)
        }
        if head.target.path == "*" {
            return answer(
                server.answerToAsterisk, traits, &record, since: startedAt,
                bytesToDiscard: traits.framing.announced)
        }
        let (route, user, outcome) = server.service.answer(
            to: head.request(
                method, id: record.id, peer: client,
                scheme: origin?.scheme ?? (socket.secure == nil ? .http : .https),
                client: socket.secure?.client,
                isProxied: isTrusted, forwardedHost: origin?.host)
        ).parts()
        record.route = route
        record.user = user
        switch consume outcome {
        case .response(let response):
            answer(
                response, traits, &record, since: startedAt,
                bytesToDiscard: traits.framing.announced)
        case .upgrade(let upgrade):
            answer(
                Response(upgrade), traits, &record, since: startedAt,
                bytesToDiscard: traits.framing.announced)
        case .work(let policy, let work):
            if case .length(let length) = traits.framing, length > policy.limit {
                // Refused at once, before the body and before a 100 response (H44).
                let refusal = server.service.bodyTooLarge(limit: policy.limit)
                return answer(refusal, traits, &record, since: startedAt, bytesToDiscard: length)
            }
            start(
                Exchange(traits, policy, record, startedAt: startedAt, headEndedAt: loop.now), work)
        }
    }

    /// The response to an invalid head after which the connection can stay open.
    private func refusal(of head: RequestHead, id: RequestID, peer: PeerAddress) -> Response {
        if let recoverableRefusal = head.recoverableRefusal {
            return server.refusal(recoverableRefusal)
        }
        if head.isTrace, let offered = offered(at: head, id: id, peer: peer) {
            var response = server.service.traceNotOffered(allowed: offered)
            response.fields.add("Allow", offered)
            return response
        }
        return server.refusal(
            Refusal(.notImplemented, "H12", "This server does not implement that method."))
    }

    /// The methods that the path allows, as `OPTIONS` responds; `nil` when the path is unknown, or the
    /// response needs a handler.
    private func offered(at head: RequestHead, id: RequestID, peer: PeerAddress) -> String? {
        let question = head.request(.options, id: id, peer: peer, scheme: .http, client: nil)
        guard case .response(let answer) = server.service.answer(to: question).parts().outcome
        else { return nil }
        return answer.fields["Allow"]
    }

    /// Sends the response of a handler.
    private func finish(_ exchange: Exchange, _ response: Response) {
        exchange.task = nil
        // The connection may have been closed meanwhile.
        guard case .working(let current) = phase, current === exchange else { return }
        exchange.endRead(.interrupted, at: loop.now)
        if exchange.failure != nil { mustClose = true }
        var record = exchange.record
        record.bytesIn += exchange.received
        answer(
            response, exchange.traits, &record, since: exchange.startedAt,
            bytesToDiscard: exchange.decoder.announced)
        processNextRequest()
        flushLater()
    }

    /// Processes the input that arrived while a response was in progress.
    func processNextRequest() {
        processInput()
        if inputHasEnded { afterInputEnd() }
        resumeLater()
    }
}

extension BodyFraming {
    /// The size of the body; `nil` for chunks.
    fileprivate var announced: Int64? {
        switch self {
        case .none: 0
        case .length(let length): length
        case .chunked: nil
        }
    }
}

// MARK: Running handlers
extension Connection {
    /// Runs a handler, as soon as a slot is free for it (H187).
    private func start(_ exchange: Exchange, _ work: @escaping Answer.Work) {
        phase = .working(exchange)
        if server.handlers.takeFreeSlot() { return run(exchange, work) }
        let decision = server.handlers.requestSlot { [self] in
            loop.perform { self.slotAssigned(exchange, work) }
        }
        switch decision {
        case .start: run(exchange, work)
        case .wait(let queueEntry):
            exchange.queueEntry = queueEntry
            setPhaseDeadline(loop.now + configuration.queueTimeout)
        case .refuse: refuseWork(exchange)
        }
    }

    /// Runs a handler for which a slot has become free.
    private func slotAssigned(_ exchange: Exchange, _ work: @escaping Answer.Work) {
        exchange.queueEntry = nil
        guard case .working(let current) = phase, current === exchange else {
            // The request was cancelled meanwhile.
            return server.handlers.releaseSlot()
        }
        run(exchange, work)
    }

    /// The handler runs on this loop, after the current bytes are processed.
    private func run(_ exchange: Exchange, _ work: @escaping Answer.Work) {
        exchange.beginWork(at: loop.now, configuration)
        setPhaseDeadline(exchange.handlerDeadline(configuration))
        let body = SocketBody(self, exchange)
        exchange.task = Task(executorPreference: loop) { [self] in
            let response = await work(body)
            // The slot is released only when the work has ended, even if a timeout response was sent before.
            server.handlers.releaseSlot()
            finish(exchange, response)
        }
    }

    /// Handles a request whose deadline has passed: in the queue, while reading its body, or in its handler.
    func workExpired(_ exchange: Exchange) {
        if let queueEntry = exchange.queueEntry {
            // It has just left the queue: it gets its slot.
            guard server.handlers.cancelWait(queueEntry) else { return setPhaseDeadline(.max) }
            exchange.queueEntry = nil
            refuseWork(exchange)
        } else if exchange.pendingRead != nil {
            readExpired(exchange)
        } else {
            exchange.task?.cancel()
            // The connection stays open; the later response of the handler is ignored (H177).
            finish(
                exchange,
                server.refusal(
                    Refusal(.serviceUnavailable, "H177", "The request took too long.")))
        }
    }

    /// Cancels a request whose connection is closed: the handler gets an error from its body, and its task is
    /// cancelled (H85).
    func endWork(_ exchange: Exchange, _ reason: String) {
        var record = exchange.record
        record.closing = reason
        record.bytesIn += exchange.received
        report(&record, since: exchange.startedAt)
        exchange.failure = exchange.failure ?? .interrupted
        // An entry that has left the queue gets its slot anyway and releases it then.
        if let queueEntry = exchange.queueEntry { server.handlers.cancelWait(queueEntry) }
        exchange.endRead(.interrupted, at: loop.now)
        exchange.task?.cancel()
        exchange.task = nil
    }

    private func refuseWork(_ exchange: Exchange) {
        server.notice(.busy)
        finish(
            exchange,
            server.refusal(
                Refusal(
                    .serviceUnavailable, "H187",
                    "The server has reached its limit of concurrent requests."))
        )
    }
}

// MARK: Responses
extension Connection {
    /// Queues a response, and decides what follows: the rest of the request's body, the next request, or the
    /// close.
    ///
    /// - Parameter bytesToDiscard: The number of bytes of the request's body that were not read; `nil` when
    ///   unknown.
    private func answer(
        _ response: borrowing Response, _ traits: RequestTraits, _ record: inout RequestRecord,
        since start: Int64, bytesToDiscard: Int64?
    ) {
        if response.ending == .drop {
            response.content.discard()
            record.closing = "dropped"
            report(&record, since: start)
            // Responses to earlier requests are still sent (H82).
            return closeAfterOutput()
        }
        guard response.fields.isValid else {
            response.content.discard()
            let refusal = Refusal(.internalServerError, "H32", "The answer could not be written.")
            return answer(
                server.refusal(refusal), traits, &record, since: start,
                bytesToDiscard: bytesToDiscard)
        }
        let isUpgrade = response.status == .switchingProtocols
        if isUpgrade, traits.isHTTP10 || traits.framing.announcesContent {
            response.content.discard()
            let refusal = Refusal(
                .badRequest, "H131", "Protocols are changed in HTTP/1.1 and without a body.")
            var answer = server.refusal(refusal)
            answer.ending = .close
            return self.answer(
                answer, traits, &record, since: start, bytesToDiscard: bytesToDiscard)
        }
        let bytesToDiscard = bytesToDiscard ?? .max
        if response.ending == .close || bytesToDiscard > configuration.maximumDrain
            || bytesToDiscard > 0 && traits.expectsContinue
        {
            // The unread body may be too large to discard, or may never be sent (H76, H92).
            mustClose = true
        }
        // The listeners close before the connections are notified; this response may come in between (H194).
        if server.isDraining { mustClose = true }
        let isContent = response.status.allowsContent && !traits.answersHead
        if case .stream(_, nil) = response.content, isContent, traits.isHTTP10 {
            // Only the close marks the end of the content (H90).
            mustClose = true
        }
        record.status = response.status.code
        record.owner = response.owner
        record.bytesOut = write(
            response, id: record.id, answersHead: traits.answersHead, isHTTP10: traits.isHTTP10)
        record.closing = mustClose ? "close" : nil
        if case .stream(let handler, let length) = response.content {
            if isContent || isUpgrade {
                let framing: ConnectionChannel.Framing =
                    if isUpgrade {
                        .upgraded
                    } else if let length {
                        .fixedLength(length)
                    } else {
                        traits.isHTTP10 ? .untilClose : .chunked
                    }
                let channel = ConnectionChannel(self, framing, handler, record, startedAt: start)
                return open(channel, bytesToDiscard: bytesToDiscard)
            }
            handler.closed()
        }
        report(&record, since: start)
        finishResponse(bytesToDiscard: bytesToDiscard)
    }

    /// Decides what follows a response that is queued completely.
    ///
    /// - Parameter bytesToDiscard: The number of bytes of the request's body that were not read.
    func finishResponse(bytesToDiscard: Int64) {
        if mustClose { return closeAfterOutput() }
        if bytesToDiscard == 0 {
            phase = .head
            setPhaseDeadline(.max)
        } else {
            phase = .discarding
            self.bytesToDiscard = bytesToDiscard
            setPhaseDeadline(loop.now + configuration.drainTimeout)
        }
    }

    /// Sends one error response to an invalid head, and closes (H7).
    ///
    /// - Parameter headPrefix: The first bytes of the head, for the log.
    func refuse(_ refusal: Refusal, bytesIn: Int64 = 0, headPrefix: [UInt8] = []) {
        mustClose = true
        var record = RequestRecord(
            id: loop.nextRequestID(), method: "", route: "", status: refusal.status.code,
            bytesIn: bytesIn, bytesOut: 0, duration: 0, peer: peer, closing: refusal.rule,
            headPrefix: headPrefix)
        record.bytesOut = write(
            server.refusal(refusal), id: record.id, answersHead: false, isHTTP10: false)
        record.loop = loop.number
        server.observer?.finished(record)
        closeAfterOutput()
    }

    /// The unread body was discarded: the next request can be read (H92).
    func bodyIsDrained() {
        phase = .head
        setPhaseDeadline(.max)
        wantsFlush = true
    }

    /// Reports a finished or cancelled request to the observer.
    func report(_ record: inout RequestRecord, since start: Int64) {
        guard let observer = server.observer else { return }
        record.duration = MonotonicClock.nanoseconds - start
        record.loop = loop.number
        observer.finished(record)
    }

    /// Queues head and content, and returns their size in bytes.
    private func write(
        _ response: borrowing Response, id: RequestID, answersHead: Bool, isHTTP10: Bool
    ) -> Int64 {
        output.borrowStorage(from: loop)
        let before = output.count
        output.append(
            response,
            .init(
                dateLine: socket.secure == nil ? loop.clock.dateLine : loop.clock.secureDateLine,
                id: id,
                answersHead: answersHead, closes: mustClose,
                isHTTP10: isHTTP10))
        wantsFlush = true
        return output.count - before
    }

    private func closeAfterOutput() {
        mustClose = true
        phase = .closing
        setPhaseDeadline(.max)
        wantsFlush = true
    }
}

extension Content {
    /// Discards content that is not sent: the handler of a stream is notified that its channel is closed.
    fileprivate func discard() {
        if case .stream(let handler, _) = self { handler.closed() }
    }
}
