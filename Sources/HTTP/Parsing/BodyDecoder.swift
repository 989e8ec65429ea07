/// Removes the framing from a request's body: takes bytes of the connection, yields bytes of the
/// body.
///
/// Has no I/O and can resume at every byte, like ``RequestParser``.
public struct BodyDecoder: Sendable {
    /// What the next bytes of the input are.
    public enum Step: Sendable, Equatable {
        /// That many bytes were framing; call again with the bytes after them.
        case framing(Int)
        /// That many bytes at the front of the input belong to the body.
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

    /// Makes a decoder at the first byte after the head.
    ///
    /// - Parameters:
    ///   - limit: The largest body; a longer one is refused with 413 as soon as it is known (H44,
    ///     H49).
    ///   - kept: The trailer field to keep (H50).
    public init(_ framing: BodyFraming, limit: Int64, keeping kept: FieldName? = nil) {
        self.framing = framing
        self.limit = limit
        chunks = ChunkedDecoder(bodyLimit: limit, keeping: kept)
        if case .length(let length) = framing { remaining = length } else { remaining = 0 }
    }

    /// Whether the body has ended.
    public var isComplete: Bool {
        switch framing {
        case .none: true
        case .length: remaining == 0
        case .chunked: chunks.isComplete
        }
    }

    /// How many bytes remain of a body of known length; `nil` while chunks are received.
    public var announced: Int64? {
        if case .chunked = framing { return chunks.isComplete ? 0 : nil }
        return remaining
    }

    /// The values of the kept trailer field, once the body has ended.
    public var trailer: [String] { chunks.trailer }

    /// Decodes the front of the input.
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
    /// The body exceeds the limit of its route (H44, H49).
    public static let bodyTooLarge = Refusal(
        .contentTooLarge, "H49", "The request body is larger than this endpoint allows.")
}

extension BodyDecoder {
    /// Counts bytes that were read from the socket directly into a buffer, bypassing this decoder.
    ///
    /// - Parameter count: At most ``announced``; only for bodies of known length.
    public mutating func skip(_ count: Int64) { remaining -= min(count, remaining) }
}
