extension Array {
    /// The elements in pieces of at most so many, for statements that name each of them.
    func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { start in
            Array(self[start..<Swift.min(start + size, count)])
        }
    }

    /// The elements in pieces whose lengths are powers of two, for statements that write each of them.
    ///
    /// So such a statement has a handful of texts, and its prepared forms are found again.
    ///
    /// - Parameter most: A power of two; no piece is longer.
    func powers(upTo most: Int) -> [[Element]] {
        var pieces: [[Element]] = []
        var (start, size) = (0, most)
        while start < count {
            while size > count - start { size /= 2 }
            pieces.append(Array(self[start..<start + size]))
            start += size
        }
        return pieces
    }
}
