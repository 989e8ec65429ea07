/// Why a connection was refused before anything of it was read.
public enum ConnectionRefusal: String, Sendable, CaseIterable {
    /// There are `maxConnections`; it was told so where nothing speaks against it (H181).
    case full
    /// Its client has `maxConnectionsPerAddress` (H182).
    case client
    /// No descriptor is left for it (H183).
    case descriptors
    /// No memory is left for its TLS session.
    case memory
    /// It came past the proxy that every connection has to come through (H202).
    case untrusted
}
