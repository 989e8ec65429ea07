/// How much a document may ask of its reader.
public struct JSONLimits: Hashable, Sendable {
    /// The most bytes of a document; 16 MiB unless said otherwise.
    public let size: Int

    /// The deepest nesting of objects and arrays; 64 unless said otherwise, never above 512.
    public let depth: Int

    /// The most bytes of one number; 64 unless said otherwise.
    ///
    /// An `Int64` needs 20 bytes and a `Double` 24; the rest is for generous writers. Converting a
    /// number of a million digits is work a caller could make us do.
    public let numberLength: Int

    /// Makes limits; values beyond what the reader can hold are brought down to it.
    public init(size: Int = 16 << 20, depth: Int = 64, numberLength: Int = 64) {
        // Nodes count bytes in 32 bits.
        self.size = min(max(size, 0), Int(Int32.max))
        // The reader calls itself once a level: the stack of a worker thread bounds it.
        self.depth = min(max(depth, 0), 512)
        self.numberLength = max(numberLength, 1)
    }
}
