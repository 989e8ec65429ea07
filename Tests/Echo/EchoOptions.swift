import HTTP
import HTTPTransport

/// What the command line may change.
struct EchoOptions {
    var configuration = ServerConfiguration()
    var limits = EchoLimits()
    /// What `GET /` answers when there is nothing to echo.
    var greeting = Response(.ok)
}

/// Limits of the service itself.
struct EchoLimits {
    /// Octets of a body that is echoed.
    var body: Int64 = 1 << 20
    /// Milliseconds between two events of `/sse`.
    var eventInterval: Int64 = 1000
    /// Octets that may wait for a reader of `/sse` before it is cut off (H156).
    var eventQueue: Int64 = 1 << 20
    /// What `/ws` takes.
    var sockets = WebSocketSettings()
    /// Octets of the content of `/stream`.
    var streamLength: Int64 = 16 << 20
    /// Octets of it that are written at once.
    var streamPiece = 16 << 10
}
