import HTTP

/// A body that comes in pieces of given sizes, and may break at its end.
actor ScriptedBody: RequestBody {
    nonisolated let length: Int64?
    private var rest: ArraySlice<UInt8>
    private var cuts: ArraySlice<Int>
    private let end: BodyError?
    /// How many octets have been handed out.
    private(set) var handedOut = 0

    /// - Parameter cuts: Sizes of the pieces; what is left after them comes as the buffer takes it.
    init(_ octets: [UInt8], cuts: [Int] = [], end: BodyError? = nil) {
        length = nil
        rest = octets[...]
        self.cuts = cuts[...]
        self.end = end
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        buffer.removeAll()
        if rest.isEmpty, let end { throw end }
        let piece = rest.prefix(min(max(1, cuts.popFirst() ?? .max), buffer.capacity))
        _ = buffer.append(Array(piece).span)
        rest = rest.dropFirst(piece.count)
        handedOut += piece.count
    }

    nonisolated func interrupt() {}
}
