import Messaging

/// A key, whose it is, and what was asked with it.
struct KeyedRequest: Sendable {
    let name: Name
    /// SHA-256 of what was asked.
    let digest: [UInt8]
    let now: Timestamp

    /// One key of one application.
    struct Name: Hashable {
        let application: Application.ID
        let key: IdempotencyKey
    }

    /// How long an answer is kept, in milliseconds: a day (X2).
    static let life: Int64 = 86_400_000

    /// Answers kept until then count no more.
    var horizon: Timestamp { Timestamp(milliseconds: now.milliseconds - Self.life) }

    /// - Parameter saying: What was asked, in pieces; two requests are the same when all pieces are.
    init(
        _ name: Name, saying pieces: [[UInt8]], at now: Timestamp, hash: ([UInt8]) -> [UInt8]
    ) {
        var octets: [UInt8] = []
        octets.reserveCapacity(pieces.reduce(0) { sum, piece in sum + piece.count + 8 })
        for piece in pieces {
            // Behind its length, so that no piece can pass for the end of another.
            for place in 0..<8 {
                octets.append(UInt8(truncatingIfNeeded: piece.count >> (56 - 8 * place)))
            }
            octets += piece
        }
        self.name = name
        digest = hash(octets)
        self.now = now
    }
}
