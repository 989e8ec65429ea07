import SystemSupport

/// Limits for content that is decompressed (H118).
public struct InflationLimits: Sendable {
    /// The most decoded bytes; the body limit of the route.
    private let size: Int64
    /// The most decoded bytes per coded byte, checked after the first 64 KiB.
    private let ratio: Int64

    /// Makes limits.
    public init(size: Int64, ratio: Int64 = 100) {
        self.size = size
        self.ratio = ratio
    }

    private static let grace: Int64 = 64 << 10

    func check(consumed: Int64, produced: Int64) throws(BodyError) {
        guard produced <= size else {
            throw .refused(
                Refusal(.contentTooLarge, "H118", "The decoded content is larger than allowed."))
        }
        // `consumed` counts bytes of one body, so the product cannot overflow.
        guard produced <= Self.grace || produced <= consumed * ratio else {
            throw .refused(
                Refusal(
                    .contentTooLarge, "H118", "The compression ratio of the content is too high."))
        }
    }
}

extension RequestBody {
    /// This body without its content coding; see ``ContentCoding/of(_:)``.
    public func decoded(_ coding: ContentCoding?, _ limits: InflationLimits) -> any RequestBody {
        guard let coding else { return self }
        return InflatedBody(self, coding, limits)
    }
}

/// A request body whose content coding is decoded while it is read (H118).
///
/// A gzip file with several members decodes to their contents in a row, within the same limits; any
/// other bytes after the end are rejected (H119). Uses 16 KiB for input and 40 KiB for the
/// decoder, however large the content is.
private actor InflatedBody: RequestBody {
    /// Unknown before the content is decoded.
    nonisolated let length: Int64? = nil

    private let body: any RequestBody
    private let coding: ContentCoding
    private let limits: InflationLimits
    private let inflater: Inflater
    private let queue = CodingQueue.any()
    private var coded: BodyBuffer
    /// Bytes that were received but not decoded yet.
    private var input: ArraySlice<UInt8> = []
    private var consumed: Int64 = 0
    private var produced: Int64 = 0
    /// The last output filled its buffer, so the decoder may produce more without input.
    private var hasMoreOutput = false
    /// The content, or its latest gzip member, has ended.
    private var hasEnded = false
    private var bodyEnded = false
    private var failure: BodyError?

    init(_ body: any RequestBody, _ coding: ContentCoding, _ limits: InflationLimits) {
        self.body = body
        self.coding = coding
        self.limits = limits
        inflater = Inflater(coding)
        coded = BodyBuffer(capacity: Int(min(body.length ?? 16_384, 16_384)))
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        buffer.removeAll()
        if let failure { throw failure }
        do throws(BodyError) {
            try await fill(&buffer)
        } catch {
            failure = error
            input = []
            throw error
        }
    }

    nonisolated func interrupt() { body.interrupt() }

    /// Decodes until the buffer has bytes or the content has ended.
    private func fill(_ buffer: inout BodyBuffer) async throws(BodyError) {
        while true {
            if hasEnded, !input.isEmpty { try beginMember() }
            if !hasEnded, hasMoreOutput || !input.isEmpty { try await decode(into: &buffer) }
            if buffer.count > 0 { return }
            guard input.isEmpty else { continue }
            if bodyEnded {
                guard hasEnded else { throw .damaged("The coded content is incomplete.") }
                return
            }
            try await receive()
        }
    }

    /// Reads the next piece. The storage is moved along, so that it is written in place.
    private func receive() async throws(BodyError) {
        var piece = coded
        coded = BodyBuffer(capacity: 1)
        try await body.read(into: &piece)
        bodyEnded = piece.count == 0
        input = piece.bytes
        coded = piece
    }

    /// Handles bytes after the end: another gzip member, or an error.
    private func beginMember() throws(BodyError) {
        guard coding == .gzip else { throw .damaged("Bytes follow the coded content.") }
        inflater.restart()
        hasEnded = false
    }

    private func decode(into buffer: inout BodyBuffer) async throws(BodyError) {
        let before = buffer.count
        let step: Inflater.Step
        do throws(Inflater.Corruption) {
            if buffer.capacity <= CodingQueue.inlineThreshold {
                step = try inflater.inflate(input, into: &buffer)
            } else {
                step = try await decodeElsewhere(&buffer)
            }
        } catch {
            throw .damaged("The content does not match its content coding.")
        }
        input = input.dropFirst(step.consumed)
        // Releases the storage, so that the next piece is received into it without a copy.
        if input.isEmpty { input = [] }
        hasEnded = step.isOver
        hasMoreOutput = buffer.freeCapacity == 0
        consumed += Int64(step.consumed)
        produced += Int64(buffer.count - before)
        try limits.check(consumed: consumed, produced: produced)
    }

    private func decodeElsewhere(_ buffer: inout BodyBuffer) async throws(Inflater.Corruption)
        -> Inflater.Step
    {
        let (inflater, input) = (inflater, input)
        let lent = buffer
        buffer = BodyBuffer(capacity: 1)
        let (filled, step) = try await queue.run {
            () throws(Inflater.Corruption) -> (BodyBuffer, Inflater.Step) in
            var buffer = lent
            let step = try inflater.inflate(input, into: &buffer)
            return (buffer, step)
        }
        buffer = filled
        return step
    }
}

extension BodyError {
    /// The content does not match its coding (H119).
    fileprivate static func damaged(_ reason: StaticString) -> BodyError {
        .refused(Refusal(.badRequest, "H119", reason))
    }
}
