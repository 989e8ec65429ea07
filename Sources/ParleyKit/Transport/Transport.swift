package import FoundationEssentials
package import HTTP
internal import HTTPClient

/// A request to the server.
package struct TransportRequest: Sendable {
    /// The longest time without any byte in either direction, in seconds. A stream has a comment every 25 s (K11).
    package static let stallSeconds = 60
    /// The longest time of a request that is no stream, in seconds.
    package static let totalSeconds = 120
    /// The longest answer that is not streamed, in bytes.
    package static let bodyLimit = 64 << 20

    package let method: HTTP.Method
    /// The path and query below the server's URL, percent-encoded; or an absolute URL, to which no session token goes.
    package let path: String
    package var headers: [(name: String, value: String)] = []
    package var body: [UInt8]?
    /// A body that is read while it is sent; it takes the place of `body`.
    package var stored: StoredBody?
    /// Whether the request may take as long as it wants, because its body or answer is a stream.
    package var isStream = false
    /// How long nothing of it may have gone through the network for a kick not to give it up (K14).
    package var patienceAtKick = Self.defaultPatience
    package static let defaultPatience = Duration.seconds(2)

    /// A body that is read while it is sent.
    package struct StoredBody: Sendable {
        /// The size in bytes.
        package let count: Int64
        /// The path of a file that has exactly these bytes; `nil` if there is none.
        package let file: String?
        /// Reads at most a number of bytes at a position; it may block.
        package let read: @Sendable (_ count: Int, _ position: Int64) throws -> [UInt8]
        /// Called with the number of bytes that were sent so far.
        package let onSent: @Sendable (Int64) -> Void
    }

    /// The absolute URL.
    ///
    /// - Parameter server: The URL of the server.
    package func url(below server: URL) -> String {
        guard !path.hasPrefix("http://"), !path.hasPrefix("https://") else { return path }
        var base = server.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        return base + path
    }
}

extension Fields {
    /// When the server wants the request again, in seconds: 0 to 3,600, whatever it says; `nil` if it does not say.
    var retryAfter: Int? {
        self["retry-after"].flatMap { text in Int(text) }.map { seconds in
            min(max(0, seconds), 3600)
        }
    }
}

/// A complete answer.
package struct TransportResponse: Sendable {
    package let status: Int
    package let headers: Fields
    package let body: [UInt8]

    /// An answer.
    package init(status: Int, headers: Fields, body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// An answer whose body is received in pieces.
package protocol TransportStream: Sendable {
    var status: Int { get }
    var headers: Fields { get }
    /// The next bytes; `nil` at the end.
    func next() async throws(ParleyError) -> [UInt8]?
    func cancel()
}

/// Sends requests to the server of one client (K3).
package protocol Transport: Sendable {
    /// Sends a request and receives the whole answer, whatever its status.
    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse
    /// Sends a request and receives the head of the answer.
    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream
}

/// Sends requests with ``HTTPClient``.
struct CurlTransport: Transport {
    private let client: HTTPClient
    private let server: URL

    /// - Parameter transfers: How many contents may be transferred at once, beside other requests.
    init(server: URL, transfers: Int) throws(ParleyError) {
        self.server = server
        do throws(HTTPClientError) {
            var settings = HTTPClientSettings()
            settings.connectionsPerHost += transfers
            client = try HTTPClient(settings)
        } catch {
            throw ParleyError(error)
        }
    }

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        do throws(HTTPClientError) {
            let response = try await client.send(
                clientRequest(request), bodyLimit: TransportRequest.bodyLimit)
            return TransportResponse(
                status: response.status, headers: response.fields, body: response.body)
        } catch {
            throw ParleyError(error)
        }
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        do throws(HTTPClientError) {
            return CurlStream(stream: try await client.open(clientRequest(request)))
        } catch {
            throw ParleyError(error)
        }
    }

    private func clientRequest(_ request: TransportRequest) -> ClientRequest {
        let body: ClientBody =
            if let stored = request.stored {
                .stored(stored.count, read: stored.read)
            } else {
                request.body.map { bytes in .bytes(bytes) } ?? .none
            }
        var sent = ClientRequest(
            request.method, request.url(below: server), fields: request.headers, body: body)
        sent.onBytesSent = request.stored?.onSent
        sent.stallTimeout = .seconds(TransportRequest.stallSeconds)
        if !request.isStream { sent.totalTimeout = .seconds(TransportRequest.totalSeconds) }
        return sent
    }

    private struct CurlStream: TransportStream {
        let stream: ClientResponseStream
        var status: Int { stream.status }
        var headers: Fields { stream.fields }

        func next() async throws(ParleyError) -> [UInt8]? {
            do throws(HTTPClientError) {
                return try await stream.next()
            } catch {
                throw ParleyError(error)
            }
        }

        func cancel() { stream.cancel() }
    }
}

extension ParleyError {
    fileprivate init(_ error: HTTPClientError) {
        switch error.kind {
        case .cancelled: self = .cancelled
        case .insecure:
            self.init(.insecure, "The server cannot be trusted: \(error).", isTransient: true)
        case .timedOut:
            self.init(.timedOut, "The server did not answer in time.", isTransient: true)
        case .invalidRequest: self.init(.network, "The server's URL is invalid: \(error).")
        case .tooLarge: self.init(.server, "The server's answer is too large.", isTransient: true)
        default:
            self.init(.network, "The server cannot be reached: \(error).", isTransient: true)
        }
    }
}
