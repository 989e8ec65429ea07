/// How much body a route takes, and how slowly it may come.
public struct BodyPolicy: Sendable {
    /// The largest body in octets; a longer one is refused with 413 (H44, H49).
    public var limit: Int64
    /// The longest pause between two octets, in milliseconds; `nil` takes the server's (H175).
    public var idleMilliseconds: Int64?
    /// The lowest average rate in octets per second; `nil` takes the server's (H175).
    public var minimumRate: Int64?
    /// How long the rate is not judged, in milliseconds; `nil` takes the server's (H175).
    public var graceMilliseconds: Int64?
    /// How long a read may hold octets back while it fills the buffer, in milliseconds.
    public var patienceMilliseconds: Int64
    /// The one trailer field the handler looks at; all others are thrown away (H50).
    public var trailer: FieldName?
    /// False lifts the limit on the duration of the whole request (uploads; H176).
    public var isTimed: Bool

    /// Makes a policy; what is left out is the server's default.
    public init(
        limit: Int64, idleMilliseconds: Int64? = nil, minimumRate: Int64? = nil,
        graceMilliseconds: Int64? = nil, patienceMilliseconds: Int64 = 1000,
        trailer: FieldName? = nil,
        isTimed: Bool = true
    ) {
        self.limit = limit
        self.idleMilliseconds = idleMilliseconds
        self.minimumRate = minimumRate
        self.graceMilliseconds = graceMilliseconds
        self.patienceMilliseconds = patienceMilliseconds
        self.trailer = trailer
        self.isTimed = isTimed
    }

    /// 1 MiB at the server's pace.
    public static let ordinary = BodyPolicy(limit: 1 << 20)
}
