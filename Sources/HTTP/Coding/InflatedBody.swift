import SystemSupport

/// How much a coded content may become (H118).
public struct InflationLimits: Sendable {
    /// Decoded bytes; the limit of the route.
    public let size: Int64
    /// Decoded bytes for each coded one, judged after the first 64 KiB.
    public let ratio: Int64

    /// Sets the limits.
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
        // What was consumed is bytes of one body, far below the bound of this product.
        guard produced <= Self.grace || produced <= consumed * ratio else {
            throw .refused(
                Refusal(.contentTooLarge, "H118", "The content is compressed too far."))
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

/// The body of a request without its content coding, decoded as it is pulled (H118).
///
/// A file of several gzip members is their contents one after another, within the same limits;
/// anything else behind the end is refused (H119). Costs 16 KiB for what comes in and 40 KiB for
/// the decoder, however large the content is.
actor InflatedBody: RequestBody {
    /// Nobody knows before it is decoded.
    nonisolated let length: Int64? = nil

    private let body: any RequestBody
    private let coding: ContentCoding
    private let limits: InflationLimits
    private let inflater: Inflater
    private let queue = CodingQueue.any()
    private var coded: BodyBuffer
    /// What has come and is not decoded yet.
    private var input: ArraySlice<UInt8> = []
    private var consumed: Int64 = 0
    private var produced: Int64 = 0
    /// The last piece filled its buffer, so the decoder may have more without any input.
    private var holdsBack = false
    /// The content, or the latest member of it, is over.
    private var isOver = false
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

    /// Decodes until something is in the buffer, or the content has ended.
    private func fill(_ buffer: inout BodyBuffer) async throws(BodyError) {
        while true {
            if isOver, !input.isEmpty { try beginMember() }
            if !isOver, holdsBack || !input.isEmpty { try await decode(into: &buffer) }
            if buffer.count > 0 { return }
            guard input.isEmpty else { continue }
            if bodyEnded {
                guard isOver else { throw .damaged("The coded content breaks off.") }
                return
            }
            try await receive()
        }
    }

    /// Pulls the next piece; the storage goes with it, so that it is written in place.
    private func receive() async throws(BodyError) {
        var piece = coded
        coded = BodyBuffer(capacity: 1)
        try await body.read(into: &piece)
        bodyEnded = piece.count == 0
        input = piece.bytes
        coded = piece
    }

    /// More comes behind the end: another member, or nothing that belongs here.
    private func beginMember() throws(BodyError) {
        guard coding == .gzip else { throw .damaged("Bytes follow the coded content.") }
        inflater.restart()
        isOver = false
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
            throw .damaged("The content is not what its coding says.")
        }
        input = input.dropFirst(step.consumed)
        // Lets go of the storage, so that the next piece is received into it.
        if input.isEmpty { input = [] }
        isOver = step.isOver
        holdsBack = buffer.room == 0
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
    /// Content that is not what its coding says (H119).
    fileprivate static func damaged(_ reason: StaticString) -> BodyError {
        .refused(Refusal(.badRequest, "H119", reason))
    }
}
