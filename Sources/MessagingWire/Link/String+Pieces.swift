extension String {
    /// Pieces one after another, in memory taken once.
    ///
    /// An answer holds hundreds of URLs and ids, and an interpolation grows as it goes.
    init(pieces: String...) {
        self.init()
        reserveCapacity(pieces.reduce(0) { sum, piece in sum + piece.utf8.count })
        for piece in pieces { append(piece) }
    }
}
