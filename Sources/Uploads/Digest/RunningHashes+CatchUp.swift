internal import Blobs

extension RunningHashes {
    /// Takes a piece of which each digest may have seen a part already.
    mutating func catchUp(_ piece: [UInt8], at position: Int64) {
        let end = position + Int64(piece.count)
        while behind < end {
            let start = max(behind, position)
            let border = [covered, coveredByMD5, end].filter { $0 > start }.min() ?? end
            let bytes = piece[Int(start - position)..<Int(border - position)]
            update(bytes.span, at: start)
        }
    }

    /// Reads what a late digest has not seen. Waits for the disk.
    ///
    /// Two digests may stand at different places; each takes only what continues it, so the
    /// pieces are cut where either of them stands.
    mutating func catchUp(
        to end: Int64, reading read: (Int, Int64) throws(DiskError) -> [UInt8]
    ) throws(DiskError) {
        while behind < end {
            let position = behind
            let border = [covered, coveredByMD5, end].filter { $0 > position }.min() ?? end
            let piece = try read(Int(min(border - position, 256 << 10)), position)
            guard !piece.isEmpty else {
                throw DiskError(kind: .damaged, operation: "catch up on digests")
            }
            update(piece.span, at: position)
        }
    }
}
