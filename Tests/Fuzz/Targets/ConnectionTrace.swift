import HTTP

/// The requests that a connection reads from a peer's bytes, and how it ended.
struct ConnectionTrace: Equatable {
    enum Ending: Equatable {
        case waiting
        case refused(status: Int, rule: String)
    }

    /// A request and its body, as far as it was received.
    struct Exchange: Equatable {
        var head: HeadSummary
        var headCount: Int
        var body: [UInt8] = []
        /// Bytes of the body on the wire, framing included.
        var bodyCount = 0
        var isComplete = false
    }

    private(set) var exchanges: [Exchange] = []
    private(set) var ending = Ending.waiting
    private var begin = 0

    /// Reads an input as from a socket, in pieces that end at these positions.
    init(_ input: [UInt8], cuts: [Int], limits: HeadLimits, bodyLimit: Int64) {
        var parser = RequestParser(limits: limits)
        var decoder: BodyDecoder?
        for cut in cuts {
            reading: while true {
                let shown = input[begin..<cut]
                do throws(Refusal) {
                    if var body = decoder {
                        let step = try body.step(shown.span)
                        decoder = step == .end ? nil : body
                        guard take(step, of: shown) else { break reading }
                    } else {
                        switch parser.parse(shown.span) {
                        case .incomplete: break reading
                        case .refused(let refusal): throw refusal
                        case .head(let head, let count):
                            parser.reset()
                            decoder = BodyDecoder(head.framing, limit: bodyLimit)
                            begin += count
                            exchanges.append(
                                Exchange(head: HeadSummary(head), headCount: count))
                        }
                    }
                } catch {
                    refuse(error, inBody: decoder != nil)
                    return
                }
            }
        }
    }

    /// Records a step of the body; false when more bytes are needed.
    private mutating func take(_ step: BodyDecoder.Step, of shown: ArraySlice<UInt8>) -> Bool {
        let last = exchanges.count - 1
        switch step {
        case .framing(let count):
            exchanges[last].bodyCount += count
            begin += count
        case .content(let count):
            exchanges[last].body += shown.prefix(count)
            exchanges[last].bodyCount += count
            begin += count
        case .needsInput: return false
        case .end: exchanges[last].isComplete = true
        }
        return true
    }

    /// Records a refusal. Drops what was read of its body, because that depends on the pieces.
    private mutating func refuse(_ refusal: Refusal, inBody: Bool) {
        if inBody {
            exchanges[exchanges.count - 1].body = []
            exchanges[exchanges.count - 1].bodyCount = 0
        }
        begin = 0
        ending = .refused(status: refusal.status.code, rule: refusal.rule)
    }
}
