import HTTP

// From a response to the send queue, and what becomes of the connection then.
extension Connection {
    /// Writes an answer and decides what becomes of the rest of the body and of the connection.
    ///
    /// - Parameter left: How many octets of the request's body nobody read; `nil` when unknown.
    func answer(
        _ response: borrowing Response, _ terms: AnswerTerms, _ record: inout RequestRecord,
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
        record.octetsOut = write(
            response, id: record.id, answersHead: terms.answersHead, isHTTP10: terms.isHTTP10)
        record.closing = mustClose ? "close" : nil
        if case .stream(let handler, let length) = response.content {
            if isContent || isUpgrade {
                let form: OpenLine.Form =
                    if isUpgrade {
                        .upgraded
                    } else if let length {
                        .counted(length)
                    } else {
                        terms.isHTTP10 ? .plain : .chunks
                    }
                let line = OpenLine(self, form, handler, record, startedAt: start)
                return open(line, left: left)
            }
            handler.closed()
        }
        report(&record, since: start)
        conclude(left: left)
    }

    /// Decides what follows an answer whose last octet is queued.
    ///
    /// - Parameter left: How many octets of the request's body nobody read.
    func conclude(left: Int64) {
        if mustClose { return endAfterOutput() }
        if left == 0 {
            phase = .head
            setDue(.max)
        } else {
            phase = .draining
            self.left = left
            setDue(loop.now + configuration.drainTimeout)
        }
    }

    /// Answers a head that cannot be read, once, and closes (H7).
    ///
    /// - Parameter beginning: The first octets of the head, for the log.
    func refuse(_ refusal: Refusal, octetsIn: Int64 = 0, beginning: [UInt8] = []) {
        mustClose = true
        var record = RequestRecord(
            id: loop.nextRequestID(), method: "", route: "", status: refusal.status.code,
            octetsIn: octetsIn, octetsOut: 0, duration: 0, peer: peer, closing: refusal.rule,
            beginning: beginning)
        record.octetsOut = write(
            server.refusal(refusal), id: record.id, answersHead: false, isHTTP10: false)
        record.loop = loop.number
        server.observer?.finished(record)
        endAfterOutput()
    }

    /// The body that nobody read has gone by: the next request may come (H92).
    func bodyIsDrained() {
        phase = .head
        setDue(.max)
        wantsFlush = true
    }

    /// Tells the observer of a request that has been answered or given up.
    func report(_ record: inout RequestRecord, since start: Int64) {
        guard let observer = server.observer else { return }
        record.duration = MonotonicClock.nanoseconds - start
        record.loop = loop.number
        observer.finished(record)
    }

    /// Appends head and content to the output, and says how many octets that were.
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
        setDue(.max)
        wantsFlush = true
    }
}

extension Content {
    /// Nobody will be sent this: a stream's handler hears that its line is gone before it began.
    fileprivate func abandon() {
        if case .stream(let handler, _) = self { handler.closed() }
    }
}
