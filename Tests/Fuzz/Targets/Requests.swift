import HTTP

/// Pipelined request heads and bodies (H3, H6, H52, H215).
enum Requests {
    static func check(_ input: [UInt8]) {
        check(input, limits: HeadLimits(), bodyLimit: 1 << 20)
        // Limits so low that mutations of small seeds reach them.
        var narrow = HeadLimits()
        narrow.requestLine = 40
        narrow.fieldLine = 60
        narrow.fieldSection = 160
        narrow.fields = 6
        check(input, limits: narrow, bodyLimit: 12)
    }

    private static func check(_ input: [UInt8], limits: HeadLimits, bodyLimit: Int64) {
        let splits = Cuts.splits(of: input).map { cuts in
            ConnectionTrace(input, cuts: cuts, limits: limits, bodyLimit: bodyLimit)
        }
        invariant(
            "every split gives the same result (H3)",
            splits.allSatisfy { split in split == splits[0] })
        for exchange in splits[0].exchanges {
            checkBody(exchange)
            checkTarget(exchange.head)
        }
        // A head is written without what was removed, so it is never larger than before.
        for exchange in splits[0].exchanges {
            guard let bytes = exchange.head.bytes else { continue }
            let again = ConnectionTrace(
                bytes, cuts: [bytes.count], limits: limits, bodyLimit: bodyLimit)
            invariant("a head written again is a head", again.exchanges.count == 1)
            invariant(
                "a head written again is read the same", again.exchanges[0].head == exchange.head)
            invariant(
                "exactly the written bytes are read", again.exchanges[0].headCount == bytes.count)
        }
    }

    private static func checkBody(_ exchange: ConnectionTrace.Exchange) {
        guard exchange.isComplete else { return }
        switch exchange.head.framing {
        case .none: invariant("no body has no bytes", exchange.bodyCount == 0)
        case .length(let length):
            invariant("a body has the bytes of its length", exchange.bodyCount == length)
            invariant("all bytes of a body are content", exchange.body.count == length)
        case .chunked: Chunks.checkAgain(exchange.body)
        }
    }

    private static func checkTarget(_ head: HeadSummary) {
        invariant("a path is rooted", head.path.hasPrefix("/") || head.path == "*")
        Targets.check(Array((head.path + (head.query.map { query in "?" + query } ?? "")).utf8))
    }
}
