extension Message {
    /// How far the parts of a message have come, together (X7, R81).
    ///
    /// Contents are complete before a message may attach them (R24), so what there is has come.
    public struct Transfer: Equatable, Sendable {
        /// Bytes of all parts.
        public let bytes: Int64
        /// Those of them that have come.
        public let received: Int64

        /// From 0 to 1; of nothing, everything has come.
        public var fraction: Double { bytes == 0 ? 1 : Double(received) / Double(bytes) }
    }

    /// How far its parts have come.
    public var transfer: Transfer {
        let bytes = parts.reduce(0) { sum, part in sum + part.size }
        return Transfer(bytes: bytes, received: bytes)
    }
}
