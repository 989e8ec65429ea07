/// An answer as it is kept under a key, to be given again (X2).
public struct KeptAnswer: Equatable, Sendable {
    /// Of three digits.
    public let status: Int
    /// The header fields that belong to it, as octets; whoever wrote them reads them.
    public let fields: [UInt8]
    /// `nil` for none.
    public let body: [UInt8]?

    /// An answer to keep.
    public init(status: Int, fields: [UInt8], body: [UInt8]?) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Only success is kept: what has failed has done nothing, and may be tried again (ruling 12).
    var isKept: Bool { (200..<300).contains(status) }
}

/// What became of a request with a key.
public enum KeyedOutcome: Equatable, Sendable {
    /// It was done now.
    case done(KeptAnswer)
    /// It was done before; this was the answer.
    case replayed(KeptAnswer)
}
