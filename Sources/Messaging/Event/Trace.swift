/// A distributed trace that a request was part of (W3C Trace Context): what comes of the request is told in
/// the same one (X5).
public struct Trace: Hashable, Sendable {
    /// 16 bytes in lower-case hexadecimal digits, not all of them zero.
    public let id: String
    /// What holds of the whole trace, a bit each: 1 that it is kept, 2 that its id is random.
    public let flags: UInt8

    /// A trace as a caller names it; other flags mean nothing yet and are not passed on
    /// (Trace Context level 2, §3.2.2.5.3).
    public init(id: String, flags: UInt8) {
        self.id = id
        self.flags = flags & 3
    }
}
