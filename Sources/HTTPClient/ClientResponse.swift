public import HTTP

/// A complete response of another server.
public struct ClientResponse: Sendable {
    /// The status code, 200…599.
    public let status: Int
    /// The headers, in the order they were received.
    public let fields: Fields
    /// The body, without the transfer coding.
    public let body: [UInt8]
}

/// A response whose body is still being received.
///
/// At most 256 KiB, plus the bytes of one read of the socket, are buffered; after that the server has to wait
/// until the caller reads. Releasing the stream cancels the request.
public final class ClientResponseStream: Sendable {
    private let head: ClientResponseHead
    private let loop: CurlLoop
    private let number: Int

    init(_ head: ClientResponseHead, _ loop: CurlLoop, _ number: Int) {
        self.head = head
        self.loop = loop
        self.number = number
    }

    deinit { loop.cancel(number) }

    /// The status code, 200…599.
    public var status: Int { head.status }
    /// The headers.
    public var fields: Fields { head.fields }

    /// The next bytes of the body, at least one; `nil` at the end. One caller at a time.
    public func next() async throws(HTTPClientError) -> [UInt8]? {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.read(number, continuation)
            }
        } onCancel: {
            loop.cancel(number)
        }
        return try outcome.get()
    }

    /// Cancels the request and closes its connection, which may have received more of the response.
    public func cancel() { loop.cancel(number) }
}

/// The head of a final response.
struct ClientResponseHead: Sendable {
    let status: Int
    let fields: Fields
}

/// A parser for the lines of a response head.
///
/// Interim responses (1xx) before the final one are skipped, and trailers after the body are ignored.
struct ResponseHeadReader {
    /// The maximum size of all heads of a request together, in bytes.
    private static let maximumSize = 64 << 10

    private var size = 0
    private var status = 0
    private var fields: [(name: String, value: String)] = []
    private var hasEnded = false

    /// Reads a line including its end; returns the head after the empty line that ends it.
    mutating func read(_ line: String) throws(HTTPClientError) -> ClientResponseHead? {
        guard !hasEnded else { return nil }
        size += line.utf8.count
        guard size <= Self.maximumSize else {
            throw HTTPClientError(
                .tooLarge, "the head of the response is larger than \(Self.maximumSize) bytes")
        }
        let line = line.trimmed()
        if line.hasPrefix("HTTP/"), status < 200 {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count >= 2, let code = Int(words[1]), (100...599).contains(code) else {
                throw HTTPClientError(.broken, "the response has no status: \(line.prefix(100))")
            }
            status = code
            fields = []
        } else if line.isEmpty {
            guard status >= 200 else { return nil }
            hasEnded = true
            return ClientResponseHead(status: status, fields: Fields(fields))
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...]
            fields.append((String(line[..<colon]), String(value.trimmed())))
        }
        return nil
    }
}

extension StringProtocol {
    /// The text without spaces, tabs, CR and LF at its ends.
    fileprivate func trimmed() -> SubSequence {
        let isBlank = { (scalar: Unicode.Scalar) in " \t\r\n".unicodeScalars.contains(scalar) }
        guard let first = unicodeScalars.firstIndex(where: { !isBlank($0) }),
            let last = unicodeScalars.lastIndex(where: { !isBlank($0) })
        else { return self[startIndex..<startIndex] }
        return self[first...last]
    }
}
