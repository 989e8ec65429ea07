import HTTP

/// Request heads and bodies, pipelined as they come (H3, H6, H52, H215).
enum Requests {
    static func check(_ input: [UInt8]) {
        check(input, limits: HeadLimits(), bodyLimit: 1 << 20)
        // Limits so narrow that mutations of small seeds reach them.
        var narrow = HeadLimits()
        narrow.requestLine = 40
        narrow.fieldLine = 60
        narrow.fieldSection = 160
        narrow.fields = 6
        check(input, limits: narrow, bodyLimit: 12)
    }

    private static func check(_ input: [UInt8], limits: HeadLimits, bodyLimit: Int64) {
        let ways = Cuts.ways(of: input).map { cuts in
            Conversation(input, cuts: cuts, limits: limits, bodyLimit: bodyLimit)
        }
        law("every split says the same (H3)", ways.allSatisfy { way in way == ways[0] })
        for exchange in ways[0].exchanges {
            checkBody(exchange)
            checkTarget(exchange.head)
        }
        // A head is written without what it was cut down by, so it is never larger than it was.
        for exchange in ways[0].exchanges {
            guard let bytes = exchange.head.bytes else { continue }
            let again = Conversation(
                bytes, cuts: [bytes.count], limits: limits, bodyLimit: bodyLimit)
            law("a head written again is a head", again.exchanges.count == 1)
            law("… and says the same", again.exchanges[0].head == exchange.head)
            law("… in as many bytes as were written", again.exchanges[0].headCount == bytes.count)
        }
    }

    private static func checkBody(_ exchange: Conversation.Exchange) {
        guard exchange.isComplete else { return }
        switch exchange.head.framing {
        case .none: law("no body is no byte", exchange.bodyCount == 0)
        case .length(let length):
            law("a length is that many bytes", exchange.bodyCount == length)
            law("… and all of them content", exchange.body.count == length)
        case .chunked: Chunks.checkAgain(exchange.body)
        }
    }

    private static func checkTarget(_ head: HeadSummary) {
        law("a path is rooted", head.path.hasPrefix("/") || head.path == "*")
        Targets.check(Array((head.path + (head.query.map { query in "?" + query } ?? "")).utf8))
    }
}
