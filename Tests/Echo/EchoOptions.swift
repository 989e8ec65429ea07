import HTTP
import HTTPTransport

/// What the command line may change.
struct EchoOptions {
    var configuration = {
        var configuration = ServerConfiguration()
        // Whoever measures comes from one address.
        configuration.maximumConnectionsPerAddress = 1_000_000
        return configuration
    }()
    var limits = EchoLimits()
    /// TLS, spoken where there are certificates.
    var tls = TLSConfiguration()
    /// Files of certificates, and in the same order those of their keys.
    var chains: [String] = []
    var keys: [String] = []
    /// What `GET /` answers when there is nothing to echo.
    var greeting = Response(.ok)
    /// What lies under `/files/`.
    var files: StaticFiles?
}

/// Limits of the service itself.
struct EchoLimits {
    /// Octets of a body that is echoed.
    var body: Int64 = 1 << 20
    /// Milliseconds between two events of `/sse`.
    var eventInterval: Int64 = 1000
    /// How `/sse` serves.
    var events = EventStreamSettings()
    /// Streams and sockets at once, of those who give a name in `X-User`, and of one of them (H157).
    var streams = 1_000_000
    var streamsPerUser = 16
    /// What `/ws` takes.
    var sockets = WebSocketSettings()
    /// Octets of the content of `/stream`.
    var streamLength: Int64 = 16 << 20
    /// Octets of it that are written at once.
    var streamPiece = 16 << 10
}
