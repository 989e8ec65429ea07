/// How much a coded content may become (H118).
public struct InflationLimits: Sendable {
    /// Decoded octets; the limit of the route.
    public let size: Int64
    /// Decoded octets for each coded one, judged after the first 64 KiB.
    public let ratio: Int64

    /// Sets the limits.
    public init(size: Int64, ratio: Int64 = 100) {
        self.size = size
        self.ratio = ratio
    }

    private static let grace: Int64 = 64 << 10

    func check(consumed: Int64, produced: Int64) throws(BodyError) {
        guard produced <= size else {
            throw .refused(
                Refusal(.contentTooLarge, "H118", "The decoded content is larger than allowed."))
        }
        // What was consumed is octets of one body, far below the bound of this product.
        guard produced <= Self.grace || produced <= consumed * ratio else {
            throw .refused(
                Refusal(.contentTooLarge, "H118", "The content is compressed too far."))
        }
    }
}

extension RequestBody {
    /// This body without its content coding; see ``ContentCoding/of(_:)``.
    public func decoded(_ coding: ContentCoding?, _ limits: InflationLimits) -> any RequestBody {
        guard let coding else { return self }
        return InflatedBody(self, coding, limits)
    }
}
