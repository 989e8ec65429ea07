public import HTTP

/// A whole answer of another server.
public struct ClientResponse: Sendable {
    /// 200…599.
    public let status: Int
    /// Its fields, in the order they came.
    public let fields: Fields
    /// Its body, without the coding of the transfer.
    public let body: [UInt8]
}

/// An answer whose body is still coming.
///
/// What nobody takes makes the sender wait: at most ``CurlTransfer/mostHeld`` bytes and what one read of
/// the socket brings are held here. A stream that is let go ends its request.
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

    /// 200…599.
    public var status: Int { head.status }
    /// The fields of its head.
    public var fields: Fields { head.fields }

    /// The next bytes of the body, at least one; `nil` at its end. One caller at a time.
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

    /// Ends the request; the connection is closed, because more of the answer would come.
    public func cancel() { loop.cancel(number) }
}

/// The head of a final answer.
struct ClientResponseHead: Sendable {
    let status: Int
    let fields: Fields
}

/// Collects the lines of an answer's head.
///
/// Heads of interim answers (1xx) come before it and are forgotten, and trailer fields come behind the
/// body.
struct ResponseHeadReader {
    /// How long a head may be, with all heads before it.
    static let longest = 64 << 10

    private var bytes = 0
    private var status = 0
    private var fields: [(name: String, value: String)] = []
    private var hasEnded = false

    /// Takes a line with its end; returns the head when this was the empty line behind it.
    mutating func read(_ line: String) throws(HTTPClientError) -> ClientResponseHead? {
        guard !hasEnded else { return nil }
        bytes += line.utf8.count
        guard bytes <= Self.longest else {
            throw HTTPClientError(
                .tooLarge, "the head of the answer is longer than \(Self.longest) bytes")
        }
        let line = line.trimmed()
        if line.hasPrefix("HTTP/"), status < 200 {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count >= 2, let code = Int(words[1]), (100...599).contains(code) else {
                throw HTTPClientError(.broken, "the answer has no status: \(line.prefix(100))")
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
    /// Without blanks, tabs, CR and LF at its ends.
    fileprivate func trimmed() -> SubSequence {
        let isBlank = { (scalar: Unicode.Scalar) in " \t\r\n".unicodeScalars.contains(scalar) }
        guard let first = unicodeScalars.firstIndex(where: { !isBlank($0) }),
            let last = unicodeScalars.lastIndex(where: { !isBlank($0) })
        else { return self[startIndex..<startIndex] }
        return self[first...last]
    }
}
