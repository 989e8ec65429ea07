/// How many requests one token may make.
public struct RateLimit: Equatable, Sendable {
    /// In each second, over time; 0 for as many as it likes.
    public var perSecond: Int64
    /// At once, after a rest.
    public var burst: Int64

    /// A limit; that of platform-api §1.11 unless said otherwise.
    public init(perSecond: Int64 = 100, burst: Int64 = 200) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// None at all.
    public static let none = RateLimit(perSecond: 0)
}
