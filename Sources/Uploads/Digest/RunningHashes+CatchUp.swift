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
}
