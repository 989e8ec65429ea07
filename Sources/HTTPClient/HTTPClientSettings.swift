public import HTTP

/// What holds for all requests of a client.
public struct HTTPClientSettings: Sendable {
    /// A PEM file with the authorities that may vouch for servers; `nil`: the system's.
    public var authorities: String?
    /// Asked with every address before it is dialled, after its name was looked up, so that no name can
    /// lead where nobody may go; `nil`: every address may be called.
    ///
    /// With it no proxy is used: a proxy would dial in our place.
    public var admits: (@Sendable (PeerAddress) -> Bool)?
    /// How many connections to one server there may be; further requests wait their turn. 0: no bound.
    public var connectionsPerHost = 16

    /// The defaults.
    public init() {}
}
