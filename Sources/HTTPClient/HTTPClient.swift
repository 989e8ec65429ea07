public import HTTP

/// A client for HTTP/1.1 requests to other servers, based on libcurl.
///
/// Redirects are returned, not followed. Connections are kept alive and reused. Proxies are those of the
/// environment (`https_proxy`, `no_proxy`).
public final class HTTPClient: Sendable {
    private let loop: CurlLoop

    /// Creates a client with its own connections; while there are no requests it has no thread.
    ///
    /// - Throws: `unavailable` when libcurl 7.68 or newer (`libcurl.so.4`, Debian's `libcurl4`) is not
    ///   installed.
    public init(_ settings: HTTPClientSettings = HTTPClientSettings()) throws(HTTPClientError) {
        loop = try CurlLoop(try CurlLibrary.load(), settings)
    }

    /// Sends a request and returns when the head of the final response is received; the body is read from the
    /// stream.
    ///
    /// Cancelling the task cancels the request.
    public func open(_ request: ClientRequest) async throws(HTTPClientError) -> ClientResponseStream
    {
        let number = loop.register()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.start(request, number, continuation)
            }
        } onCancel: {
            loop.cancel(number)
        }
        let head = try outcome.get()
        return ClientResponseStream(head, loop, number)
    }

    /// Sends a request and collects the whole response.
    ///
    /// - Parameter bodyLimit: The maximum size of the body in bytes; a larger one throws `tooLarge`.
    public func send(
        _ request: ClientRequest, bodyLimit: Int
    ) async throws(HTTPClientError) -> ClientResponse {
        let stream = try await open(request)
        var body: [UInt8] = []
        while let chunk = try await stream.next() {
            guard body.count + chunk.count <= bodyLimit else {
                stream.cancel()
                throw HTTPClientError(.tooLarge, "the response is larger than \(bodyLimit) bytes")
            }
            if body.isEmpty { body = chunk } else { body += chunk }
        }
        return ClientResponse(status: stream.status, fields: stream.fields, body: body)
    }
}

/// The options of a client, for all its requests.
public struct HTTPClientSettings: Sendable {
    /// A PEM file with the certificate authorities that are trusted; `nil` for those of the system.
    public var caBundle: String?
    /// Decides for each address, before connecting to it, whether it may be called; `nil` allows all
    /// addresses. It is called after the name was resolved, so a host name cannot hide a forbidden address.
    ///
    /// If it is set, no proxy is used, because the proxy would connect in our place.
    public var allowsAddress: (@Sendable (PeerAddress) -> Bool)?
    /// The maximum number of connections to one server; further requests are queued. 0 for no limit.
    public var connectionsPerHost = 16

    /// The defaults.
    public init() {}
}
