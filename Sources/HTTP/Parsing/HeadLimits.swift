/// How large a message head may be (H21, H55), and who it may name (H37).
public struct HeadLimits: Sendable {
    /// Octets of the request line; 8,192.
    public var requestLine = 8192
    /// Octets of one field line; 16,384.
    public var fieldLine = 16_384
    /// Octets of the whole header section; 32,768.
    public var fieldSection = 32_768
    /// Number of field lines; 100.
    public var fields = 100
    /// Hosts that may be named, lower case, without port; empty allows any.
    public var allowedHosts: [String] = []

    /// The defaults of the specification.
    public init() {}
}
