import HTTP

// From a complete head to whoever answers it.
extension Connection {
    /// Goes on with a head, or begins one, and starts on its request once it is complete.
    ///
    /// - Returns: How many octets were used: none while the head is incomplete.
    func takeHead(_ octets: Span<UInt8>) -> Int {
        switch parseHead(octets) {
        case .incomplete: return 0
        case .refused(let refusal):
            partial = nil
            let beginning = octets.extracting(first: RequestRecord.beginningLimit)
            refuse(
                refusal, octetsIn: Int64(octets.count),
                beginning: unsafe beginning.withUnsafeBytes { octets in unsafe Array(octets) })
            return octets.count
        case .head(let head, let count):
            partial = nil
            begin(head, octetsIn: Int64(count))
            return count
        }
    }

    /// Most heads arrive whole, and the loop's parser serves them all; only one that does not gets a
    /// parser of its own.
    private func parseHead(_ octets: Span<UInt8>) -> RequestParser.Outcome {
        if let partial { return partial.parser.parse(octets) }
        loop.parser.reset()
        let outcome = loop.parser.parse(octets)
        if case .incomplete = outcome {
            partial = PartialHead(loop.parser)
            // From the first octet on, dripping moves nothing (H174); the first head of a connection
            // is due from its accept.
            if requestCount > 0 { setDue(loop.now + configuration.headerTimeout) }
        }
        return outcome
    }

    /// Starts on a request whose head is complete.
    private func begin(_ head: consuming RequestHead, octetsIn: Int64) {
        requestCount += 1
        if !head.persists || requestCount >= configuration.maximumRequests
            || loop.now > agesAt || server.isDraining
        {
            mustClose = true
        }
        let origin = isTrusted ? configuration.trust.origin(of: head.fields, from: peer) : nil
        let client = origin?.client ?? peer
        var id = loop.nextRequestID()
        if isTrusted { id = configuration.trust.id(of: head.fields, or: id) }
        let terms = AnswerTerms(head)
        var record = RequestRecord(
            id: id, method: head.method?.rawValue ?? "", route: "", status: 0,
            octetsIn: octetsIn, octetsOut: 0, duration: 0, peer: client)
        if isTrusted { record.trace = TraceParent(head.fields) }
        let startedAt = loop.nanoseconds
        guard let method = head.method, head.objection == nil else {
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
        if let objection = head.objection { return server.refusal(objection) }
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
        record.octetsIn += exchange.received
        answer(
            response, exchange.terms, &record, since: exchange.startedAt,
            left: exchange.decoder.announced)
        goOnWithNext()
        flushLater()
    }

    /// An answer has ended outside of the turn of its request: what came meanwhile is looked at.
    func goOnWithNext() {
        consumeInput()
        if inputHasEnded { afterInputEnd() }
        resumeLater()
    }
}

extension BodyFraming {
    /// How many octets of a body follow the head; `nil` when only its chunks tell.
    fileprivate var announced: Int64? {
        switch self {
        case .none: 0
        case .length(let length): length
        case .chunked: nil
        }
    }
}
