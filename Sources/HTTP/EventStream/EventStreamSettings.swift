/// The numbers of an event stream; the defaults are those of the specification.
public struct EventStreamSettings: Sendable {
    /// How long a client waits before it comes back, in milliseconds (H153).
    public var retry: UInt32 = 3000
    /// How often a comment shows that the stream lives, in milliseconds (H153).
    public var heartbeat: Int64 = 15_000
    /// What may wait for a slow client beyond the connection's own buffer, in octets (H156).
    public var maximumQueueOctets = 1 << 20
    /// What may wait for a slow client, in events (H156).
    public var maximumQueueEvents = 1000

    /// The defaults.
    public init() {}
}
