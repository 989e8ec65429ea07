/// Takes the framing off a request's body: bytes of the connection in, bytes of the body out.
///
/// Pure and resumable at every byte, like ``RequestParser``.
public struct BodyDecoder: Sendable {
    /// What the next bytes of the input are.
    public enum Step: Sendable, Equatable {
        /// So many bytes of the input were framing; look again behind them.
        case framing(Int)
        /// So many bytes at the front of the input belong to the body.
        case content(Int)
        /// The input is used up.
        case needsInput
        /// The body has ended; the rest of the input belongs to the next request (H52).
        case end
    }

    private var framing: BodyFraming
    private var remaining: Int64
    private var chunks: ChunkedDecoder
    private let limit: Int64
    private var delivered: Int64 = 0

    /// A decoder at the first byte behind the head.
    ///
    /// - Parameters:
    ///   - limit: The largest body; a longer one is refused with 413 as soon as it is known (H44,
    ///     H49).
    ///   - kept: The trailer field that is not thrown away (H50).
    public init(_ framing: BodyFraming, limit: Int64, keeping kept: FieldName? = nil) {
        self.framing = framing
        self.limit = limit
        chunks = ChunkedDecoder(bodyLimit: limit, keeping: kept)
        if case .length(let length) = framing { remaining = length } else { remaining = 0 }
    }

    /// True when nothing more will come.
    public var isComplete: Bool {
        switch framing {
        case .none: true
        case .length: remaining == 0
        case .chunked: chunks.isComplete
        }
    }

    /// What is still announced: bytes, or `nil` while chunks come.
    public var announced: Int64? {
        if case .chunked = framing { return chunks.isComplete ? 0 : nil }
        return remaining
    }

    /// The values of the trailer field that was to be kept, once the body has ended.
    public var trailer: [String] { chunks.trailer }

    /// Looks at the front of the input.
    public mutating func step(_ input: Span<UInt8>) throws(Refusal) -> Step {
        switch framing {
        case .none: return .end
        case .length:
            if remaining == 0 { return .end }
            if input.isEmpty { return .needsInput }
            let count = Int(min(remaining, Int64(input.count)))
            remaining -= Int64(count)
            return .content(count)
        case .chunked:
            let step = try chunks.step(input)
            if case .content(let count) = step {
                delivered += Int64(count)
                guard delivered <= limit else { throw .bodyTooLarge }
            }
            return step
        }
    }
}

extension Refusal {
    /// A body over the limit of its route (H44, H49).
    public static let bodyTooLarge = Refusal(
        .contentTooLarge, "H49", "The request body is larger than this endpoint takes.")
}

extension BodyDecoder {
    /// Notes bytes that went straight from the socket into a buffer, past this decoder.
    ///
    /// - Parameter count: At most what ``announced`` says; only for bodies of known length.
    public mutating func skip(_ count: Int64) { remaining -= min(count, remaining) }
}
