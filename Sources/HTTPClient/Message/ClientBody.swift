/// What a request carries.
public enum ClientBody: Sendable {
    /// No body.
    case none
    /// Octets in memory.
    case octets([UInt8])
    /// A number of octets that are read while they are sent, by position, and again where a broken
    /// connection is tried anew.
    ///
    /// `read` is given how many octets at most and from where; it returns fewer only at the end. It may
    /// wait for the disk: it runs on the client's own thread.
    case stored(Int64, read: @Sendable (_ count: Int, _ position: Int64) throws -> [UInt8])

    /// How many octets it has; `nil` where there is no body.
    public var count: Int64? {
        switch self {
        case .none: nil
        case .octets(let octets): Int64(octets.count)
        case .stored(let count, _): count
        }
    }
}
