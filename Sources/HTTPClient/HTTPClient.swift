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
    public func open(_ request: ClientRequest) async throws(HTTPClientError) -> ClientStream {
        let number = loop.register()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.start(request, number, continuation)
            }
        } onCancel: {
            loop.cancel(number)
        }
        let head = try outcome.get()
        return ClientStream(head, loop, number)
    }

    /// Sends a request and collects its answer.
    ///
    /// - Parameter limit: How many octets the body may have; a longer one ends with `tooLarge`.
    public func send(
        _ request: ClientRequest, atMost limit: Int
    ) async throws(HTTPClientError) -> ClientAnswer {
        let stream = try await open(request)
        var body: [UInt8] = []
        while let piece = try await stream.next() {
            guard body.count + piece.count <= limit else {
                stream.cancel()
                throw HTTPClientError(.tooLarge, "the answer is longer than \(limit) octets")
            }
            if body.isEmpty { body = piece } else { body += piece }
        }
        return ClientAnswer(status: stream.status, fields: stream.fields, body: body)
    }
}
