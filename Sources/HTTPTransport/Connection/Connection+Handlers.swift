import HTTP

// When handlers may start, and when they have worked for too long.
extension Connection {
    /// Lets a handler work, as soon as there is a slot for it (H187).
    func start(_ exchange: Exchange, _ work: @escaping Answer.Work) {
        phase = .working(exchange)
        if server.handlers.takeSlot() { return run(exchange, work) }
        let decision = server.handlers.enter { [self] in
            loop.perform { self.placeCalled(exchange, work) }
        }
        switch decision {
        case .start: run(exchange, work)
        case .wait(let place):
            exchange.place = place
            setDue(loop.now + configuration.queueTimeout)
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

    /// It runs on this loop, after the octets at hand have been looked at.
    private func run(_ exchange: Exchange, _ work: @escaping Answer.Work) {
        exchange.beginWork(at: loop.now, configuration)
        setDue(exchange.workDue(configuration))
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
            guard server.handlers.withdraw(place) else { return setDue(.max) }
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
