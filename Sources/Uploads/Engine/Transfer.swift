internal import Digests

/// How far one request has come; a value, handed from step to step.
struct Transfer: Sendable {
    /// Index in the content of the next byte the body will give.
    var position: Int64
    /// Bytes written to the file, not yet durable beyond the record's offset.
    var written: Int64
    /// Over everything written.
    var hashes: RunningHashes
    /// Over everything received: one for each digest the client stated of this body.
    var bodyDigests: [any RunningDigest] = []

    /// What happens to one piece of the body.
    struct Piece {
        /// Leading bytes that are held already.
        let skipped: Int
        /// Bytes after them that are new.
        let taken: Int
        /// Where the new ones go.
        let place: Int64
        /// Bytes came that have no place.
        let isOver: Bool
    }

    /// Divides the next `count` bytes of the body: held bytes are never written again (§5.8).
    func piece(_ count: Int, border: Int64) -> Piece {
        let end = min(position + Int64(count), border)
        let skipped = max(0, min(Int64(count), written - position))
        return Piece(
            skipped: Int(skipped), taken: Int(max(0, end - position - skipped)), place: written,
            isOver: position + Int64(count) > border)
    }

    /// Goes past a piece.
    mutating func pass(_ piece: Piece) {
        position += Int64(piece.skipped + piece.taken)
        written += Int64(piece.taken)
    }
}
