import HTTP

/// A head in progress; only a connection that waits for the rest of one pays for it.
final class PartialHead {
    var parser: RequestParser

    init(_ parser: RequestParser) { self.parser = parser }
}

// From a complete head to whoever answers it.
extension Connection {
    /// Goes on with a head, or begins one, and starts on its request once it is complete.
    ///
    /// - Returns: How many bytes were used: none while the head is incomplete.
    func takeHead(_ bytes: Span<UInt8>) -> Int {
        switch parseHead(bytes) {
        case .incomplete: return 0
        case .refused(let refusal):
            partial = nil
            let headPrefix = bytes.extracting(first: RequestRecord.headPrefixLimit)
            refuse(
                refusal, bytesIn: Int64(bytes.count),
                headPrefix: unsafe headPrefix.withUnsafeBytes { bytes in unsafe Array(bytes) })
            return bytes.count
        case .head(let head, let count):
            partial = nil
            begin(head, bytesIn: Int64(count))
            return count
        }
    }

    /// Most heads arrive whole, and the loop's parser serves them all; only one that does not gets a
    /// parser of its own.
    private func parseHead(_ bytes: Span<UInt8>) -> RequestParser.Outcome {
        if let partial { return partial.parser.parse(bytes) }
        loop.parser.reset()
        let outcome = loop.parser.parse(bytes)
        if case .incomplete = outcome {
            partial = PartialHead(loop.parser)
            // From the first byte on, dripping moves nothing (H174); the first head of a connection
            // is due from its accept.
            if requestCount > 0 { setPhaseDeadline(loop.now + configuration.headerTimeout) }
        }
        return outcome
    }

    /// Starts on a request whose head is complete.
    private func begin(_ head: consuming RequestHead, bytesIn: Int64) {
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
        let terms = RequestTraits(head)
        var record = RequestRecord(
            id: id, method: head.method?.rawValue ?? "", route: "", status: 0,
            bytesIn: bytesIn, bytesOut: 0, duration: 0, peer: client)
        if isTrusted { record.trace = TraceParent(head.fields) }
        let startedAt = loop.nanoseconds
        guard let method = head.method, head.recoverableRefusal == nil else {
            var response = refusal(of: head, id: record.id, peer: client)
            if !terms.framing.announcesContent { response.ending = .keep }
            return answer(response, terms, &record, since: startedAt, left: terms.framing.announced)
        }
        if isMisdirected(head.fields) {
            let refusal = Refusal(
                .misdirected, "H38", "This connection was opened for another host.")
            var response = server.service.refusal(refusal)
            if !terms.framing.announcesContent { response.ending = .keep }
            return answer(response, terms, &record, since: startedAt, left: terms.framing.announced)
        }
        if head.target.path == "*" {
            return answer(
                server.answerToAsterisk, terms, &record, since: startedAt,
                left: terms.framing.announced)
        }
        let (route, user, outcome) = server.service.answer(
            to: head.request(
                method, id: record.id, peer: client,
                scheme: origin?.scheme ?? (secure == nil ? .http : .https), client: secure?.client,
                isProxied: isTrusted, forwardedHost: origin?.host)
        ).parts()
        record.route = route
        record.user = user
        switch consume outcome {
        case .response(let response):
            answer(response, terms, &record, since: startedAt, left: terms.framing.announced)
        case .upgrade(let upgrade):
            answer(
                Response(upgrade), terms, &record, since: startedAt, left: terms.framing.announced)
        case .work(let policy, let work):
            if case .length(let length) = terms.framing, length > policy.limit {
                // At once, before the body and before any 100 (H44).
                let refusal = server.refusal(.bodyTooLarge)
                return answer(refusal, terms, &record, since: startedAt, left: length)
            }
            start(
                Exchange(terms, policy, record, startedAt: startedAt, beganAt: loop.now), work)
        }
    }

    /// What is wrong with a head that keeps its connection.
    private func refusal(of head: RequestHead, id: RequestID, peer: PeerAddress) -> Response {
        if let recoverableRefusal = head.recoverableRefusal {
            return server.refusal(recoverableRefusal)
        }
        if head.isTrace, let offered = offered(at: head, id: id, peer: peer) {
            var response = server.refusal(
                Refusal(.methodNotAllowed, "H20", "Nothing that was sent is sent back here."))
            response.fields.add("Allow", offered)
            return response
        }
        return server.refusal(
            Refusal(.notImplemented, "H12", "This server does not implement that method."))
    }

    /// What the path of a head offers, as `OPTIONS` would say; `nil` where nothing is known there, or not
    /// at once.
    private func offered(at head: RequestHead, id: RequestID, peer: PeerAddress) -> String? {
        let question = head.request(.options, id: id, peer: peer, scheme: .http, client: nil)
        guard case .response(let answer) = server.service.answer(to: question).parts().outcome
        else { return nil }
        return answer.fields["Allow"]
    }

    /// A handler has made its response.
    func finish(_ exchange: Exchange, _ response: Response) {
        exchange.task = nil
        // The connection may have ended meanwhile; then nobody waits for this.
        guard case .working(let current) = phase, current === exchange else { return }
        exchange.stopWaiting(.interrupted, at: loop.now)
        if exchange.failure != nil { mustClose = true }
        var record = exchange.record
        record.bytesIn += exchange.received
        answer(
            response, exchange.terms, &record, since: exchange.startedAt,
            left: exchange.decoder.announced)
        processNextRequest()
        flushLater()
    }

    /// An answer has ended outside of the turn of its request: what came meanwhile is looked at.
    func processNextRequest() {
        consumeInput()
        if inputHasEnded { afterInputEnd() }
        resumeLater()
    }
}

extension BodyFraming {
    /// How many bytes of a body follow the head; `nil` when only its chunks tell.
    fileprivate var announced: Int64? {
        switch self {
        case .none: 0
        case .length(let length): length
        case .chunked: nil
        }
    }
}

// When handlers may start, and when they have worked for too long.
extension Connection {
    /// Lets a handler work, as soon as there is a slot for it (H187).
    func start(_ exchange: Exchange, _ work: @escaping Answer.Work) {
        phase = .working(exchange)
        if server.handlers.takeFreeSlot() { return run(exchange, work) }
        let decision = server.handlers.enter { [self] in
            loop.perform { self.placeCalled(exchange, work) }
        }
        switch decision {
        case .start: run(exchange, work)
        case .wait(let place):
            exchange.place = place
            setPhaseDeadline(loop.now + configuration.queueTimeout)
        case .refuse: refuseWork(exchange)
        }
    }

    /// A slot has become free for a request that waited.
    private func placeCalled(_ exchange: Exchange, _ work: @escaping Answer.Work) {
        exchange.place = nil
        guard case .working(let current) = phase, current === exchange else {
            // Nobody waits for this answer any more.
            return server.handlers.leave()
        }
        run(exchange, work)
    }

    /// It runs on this loop, after the bytes at hand have been looked at.
    private func run(_ exchange: Exchange, _ work: @escaping Answer.Work) {
        exchange.beginWork(at: loop.now, configuration)
        setPhaseDeadline(exchange.workDue(configuration))
        let body = SocketBody(self, exchange)
        exchange.task = Task(executorPreference: loop) { [self] in
            let response = await work(body)
            // Only now, also when the answer was given without it: the slot stands for the work.
            server.handlers.leave()
            finish(exchange, response)
        }
    }

    /// The time of a request is up: in the queue, in its body, or in its handler.
    func workExpired(_ exchange: Exchange) {
        if let place = exchange.place {
            // Called already: the slot is on its way.
            guard server.handlers.cancelWait(place) else { return setPhaseDeadline(.max) }
            exchange.place = nil
            refuseWork(exchange)
        } else if exchange.pending != nil {
            readExpired(exchange)
        } else {
            exchange.task?.cancel()
            // The connection goes on; what the handler still says, nobody hears (H177).
            finish(
                exchange,
                server.refusal(
                    Refusal(.serviceUnavailable, "H177", "The request took too long.")))
        }
    }

    private func refuseWork(_ exchange: Exchange) {
        server.notice(.busy)
        finish(
            exchange,
            server.refusal(
                Refusal(
                    .serviceUnavailable, "H187", "The server works on as many requests as it can."))
        )
    }
}

// From a response to the send queue, and what becomes of the connection then.
extension Connection {
    /// Writes an answer and decides what becomes of the rest of the body and of the connection.
    ///
    /// - Parameter left: How many bytes of the request's body nobody read; `nil` when unknown.
    func answer(
        _ response: borrowing Response, _ terms: RequestTraits, _ record: inout RequestRecord,
        since start: Int64, left: Int64?
    ) {
        if response.ending == .drop {
            response.content.abandon()
            record.closing = "dropped"
            report(&record, since: start)
            // Answers to earlier requests still leave (H82).
            return endAfterOutput()
        }
        guard response.fields.isValid else {
            response.content.abandon()
            let refusal = Refusal(.internalServerError, "H32", "The answer could not be written.")
            return answer(
                server.refusal(refusal), terms, &record, since: start, left: left)
        }
        let isUpgrade = response.status == .switchingProtocols
        if isUpgrade, terms.isHTTP10 || terms.framing.announcesContent {
            response.content.abandon()
            let refusal = Refusal(
                .badRequest, "H131", "Protocols are changed in HTTP/1.1 and without a body.")
            var answer = server.refusal(refusal)
            answer.ending = .close
            return self.answer(answer, terms, &record, since: start, left: left)
        }
        let left = left ?? .max
        if response.ending == .close || left > configuration.maximumDrain
            || left > 0 && terms.expectsContinue
        {
            // The body may be too long to be thrown away, or may not follow at all (H76, H92).
            mustClose = true
        }
        let isContent = response.status.allowsContent && !terms.answersHead
        if case .stream(_, nil) = response.content, isContent, terms.isHTTP10 {
            // Only the close says where the content ends (H90).
            mustClose = true
        }
        record.status = response.status.code
        record.owner = response.owner
        record.bytesOut = write(
            response, id: record.id, answersHead: terms.answersHead, isHTTP10: terms.isHTTP10)
        record.closing = mustClose ? "close" : nil
        if case .stream(let handler, let length) = response.content {
            if isContent || isUpgrade {
                let form: ConnectionChannel.Form =
                    if isUpgrade {
                        .upgraded
                    } else if let length {
                        .counted(length)
                    } else {
                        terms.isHTTP10 ? .plain : .chunks
                    }
                let line = ConnectionChannel(self, form, handler, record, startedAt: start)
                return open(line, left: left)
            }
            handler.closed()
        }
        report(&record, since: start)
        conclude(left: left)
    }

    /// Decides what follows an answer whose last byte is queued.
    ///
    /// - Parameter left: How many bytes of the request's body nobody read.
    func conclude(left: Int64) {
        if mustClose { return endAfterOutput() }
        if left == 0 {
            phase = .head
            setPhaseDeadline(.max)
        } else {
            phase = .draining
            self.left = left
            setPhaseDeadline(loop.now + configuration.drainTimeout)
        }
    }

    /// Answers a head that cannot be read, once, and closes (H7).
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
        endAfterOutput()
    }

    /// The body that nobody read has gone by: the next request may come (H92).
    func bodyIsDrained() {
        phase = .head
        setPhaseDeadline(.max)
        wantsFlush = true
    }

    /// Tells the observer of a request that has been answered or given up.
    func report(_ record: inout RequestRecord, since start: Int64) {
        guard let observer = server.observer else { return }
        record.duration = MonotonicClock.nanoseconds - start
        record.loop = loop.number
        observer.finished(record)
    }

    /// Appends head and content to the output, and says how many bytes that were.
    private func write(
        _ response: borrowing Response, id: RequestID, answersHead: Bool, isHTTP10: Bool
    ) -> Int64 {
        borrowOutput()
        let before = output.count
        output.append(
            response,
            .init(
                dateLine: secure == nil ? loop.dateLine : loop.secureDateLine, id: id,
                answersHead: answersHead, closes: mustClose,
                isHTTP10: isHTTP10))
        wantsFlush = true
        return output.count - before
    }

    private func endAfterOutput() {
        mustClose = true
        phase = .closing
        setPhaseDeadline(.max)
        wantsFlush = true
    }
}

extension Content {
    /// Nobody will be sent this: a stream's handler hears that its line is gone before it began.
    fileprivate func abandon() {
        if case .stream(let handler, _) = self { handler.closed() }
    }
}
