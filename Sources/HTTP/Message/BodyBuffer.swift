/// Storage that travels between the transport and the reader of a body, so that a long body is
/// received without an allocation per read.
public struct BodyBuffer: Sendable {
    /// Fixed storage; only the first ``count`` octets mean anything.
    public private(set) var storage: [UInt8]
    /// How many octets are in the buffer.
    public private(set) var count = 0

    /// Makes an empty buffer.
    ///
    /// - Parameter capacity: At least 1.
    public init(capacity: Int) {
        storage = [UInt8](repeating: 0, count: max(capacity, 1))
    }

    /// How many octets fit.
    public var capacity: Int { storage.count }

    /// How many more fit.
    public var room: Int { storage.count - count }

    /// The octets in the buffer.
    public var octets: ArraySlice<UInt8> { storage[..<count] }

    /// Forgets the octets, keeps the storage.
    public mutating func removeAll() { count = 0 }

    /// Hands everything over and keeps nothing, no room either.
    ///
    /// Who fills a buffer must be the only one who has it, or the storage is copied.
    public mutating func take() -> BodyBuffer {
        var taken = BodyBuffer(storage: [])
        swap(&taken, &self)
        return taken
    }

    private init(storage: [UInt8]) { self.storage = storage }

    /// Copies as many of these octets as fit, and says how many that were.
    public mutating func append(_ octets: Span<UInt8>) -> Int {
        let taken = min(octets.count, room)
        unsafe fill { free in
            unsafe octets.withUnsafeBytes { octets in
                unsafe free.copyMemory(from: UnsafeRawBufferPointer(rebasing: octets[..<taken]))
            }
            return taken
        }
        return taken
    }

    /// Lets somebody write into the free part; `write` returns how many octets it put there.
    public mutating func fill(_ write: (UnsafeMutableRawBufferPointer) -> Int) {
        let used = count
        let added = unsafe storage.withUnsafeMutableBytes { all in
            unsafe write(UnsafeMutableRawBufferPointer(rebasing: all[used...]))
        }
        count += min(max(added, 0), room)
    }
}
