public import HTTP

/// Requests to other servers, over HTTP/1.1, by libcurl.
///
/// Redirects are handed out, never followed. Connections are kept and used again. Proxies are those of
/// the environment (`https_proxy`, `no_proxy`).
public final class HTTPClient: Sendable {
    private let loop: CurlLoop

    /// Makes a client with connections of its own; without requests it has no thread.
    ///
    /// - Throws: `unavailable` where libcurl 7.68 or newer (`libcurl.so.4`, Debian's `libcurl4`) is not
    ///   installed.
    public init(_ settings: HTTPClientSettings = HTTPClientSettings()) throws(HTTPClientError) {
        loop = try CurlLoop(try CurlLibrary.load(), settings)
    }

    /// Sends a request and returns once the head of the final answer is there; its body is read from
    /// the stream.
    ///
    /// Cancelling the task ends the request.
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

    /// Sends a request and collects its answer.
    ///
    /// - Parameter bodyLimit: How many bytes the body may have; a longer one ends with `tooLarge`.
    public func send(
        _ request: ClientRequest, bodyLimit: Int
    ) async throws(HTTPClientError) -> ClientResponse {
        let stream = try await open(request)
        var body: [UInt8] = []
        while let piece = try await stream.next() {
            guard body.count + piece.count <= bodyLimit else {
                stream.cancel()
                throw HTTPClientError(.tooLarge, "the answer is longer than \(bodyLimit) bytes")
            }
            if body.isEmpty { body = piece } else { body += piece }
        }
        return ClientResponse(status: stream.status, fields: stream.fields, body: body)
    }
}

/// What holds for all requests of a client.
public struct HTTPClientSettings: Sendable {
    /// A PEM file with the authorities that may vouch for servers; `nil`: the system's.
    public var caBundle: String?
    /// Asked with every address before it is dialled, after its name was looked up, so that no name can
    /// lead where nobody may go; `nil`: every address may be called.
    ///
    /// With it no proxy is used: a proxy would dial in our place.
    public var allowsAddress: (@Sendable (PeerAddress) -> Bool)?
    /// How many connections to one server there may be; further requests wait their turn. 0: no bound.
    public var connectionsPerHost = 16

    /// The defaults.
    public init() {}
}
