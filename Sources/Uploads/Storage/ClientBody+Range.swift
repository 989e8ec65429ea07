internal import HTTPClient

extension ClientBody {
    /// A part of a file, read while it is sent.
    ///
    /// - Parameter read: Of the file, by how many bytes at most and from where.
    static func bytes(
        _ range: Range<Int64>,
        read: @escaping @Sendable (_ count: Int, _ position: Int64) throws -> [UInt8]
    ) -> ClientBody {
        if range.isEmpty { return .octets([]) }
        return .stored(Int64(range.count)) { count, position in
            try read(count, range.lowerBound + position)
        }
    }
}
