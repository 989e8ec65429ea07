import HTTP

/// A request body that is there already.
actor MemoryBody: RequestBody {
    nonisolated let length: Int64?
    private var rest: ArraySlice<UInt8>

    init(_ octets: [UInt8]) {
        length = Int64(octets.count)
        rest = octets[...]
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        buffer.removeAll()
        let taken = rest.prefix(buffer.capacity)
        _ = buffer.append(Array(taken).span)
        rest = rest.dropFirst(taken.count)
    }

    nonisolated func interrupt() {}
}
