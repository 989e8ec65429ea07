package import SystemSupport

extension Response {
    /// This answer, compressed where the caller likes that and it pays (H111–H116).
    ///
    /// For routes whose answers may be compressed at all: says `Vary` whatever becomes of them. Left
    /// as they are: contents below the minimum or of a type that does not shrink, and what is coded
    /// or a part already. Other bytes have another entity tag (H102).
    ///
    /// - Parameters:
    ///   - fields: Of the request.
    ///   - minimum: Bytes from which on it pays.
    ///   - holdsSecret: Whether a secret stands beside text that callers choose; the length of the
    ///     compressed answer would tell of it (BREACH, H115).
    public func compressed(
        for fields: Fields, from minimum: Int = 1024, holdsSecret: Bool = false
    ) async -> Response {
        var response = self
        response.fields.add("Vary", "Accept-Encoding")
        guard !holdsSecret, let coding = coding(for: fields, from: minimum) else { return response }
        switch content {
        case .bytes(let bytes):
            let coded = await coding.compressAside(bytes)
            guard coded.count < bytes.count else { return response }
            response.content = .bytes(coded)
        case .stream(let handler, _): response.content = .stream(CompressedStream(handler, coding))
        default: return response
        }
        response.fields.add("Content-Encoding", coding.name)
        response.fields.replace("ETag") { tag in EntityTag(tag)?.coded(coding.name).text ?? tag }
        return response
    }

    /// This answer as ``compressed(for:from:holdsSecret:)`` makes it when it leaves the content as it
    /// is; `nil` when it is to be compressed. Never waits.
    public func uncompressed(for fields: Fields, from minimum: Int = 1024) -> Response? {
        guard coding(for: fields, from: minimum) == nil else { return nil }
        var response = self
        response.fields.add("Vary", "Accept-Encoding")
        return response
    }

    /// The coding this answer is to be sent in; what is cheap to ask is asked first.
    private func coding(for fields: Fields, from minimum: Int) -> ContentCoding? {
        switch content {
        case .bytes(let bytes) where bytes.count >= minimum: break
        case .stream: break
        default: return nil
        }
        guard let coding = ContentCoding.preferred(by: fields), mayBeCompressed else { return nil }
        return coding
    }

    private var mayBeCompressed: Bool {
        guard status != .partialContent else { return false }
        var isText = false
        for field in fields.all {
            switch field.name.lowercased() {
            case "content-encoding", "content-range": return false
            case "content-type": isText = MediaType(field.value)?.isText ?? false
            default: continue
            }
        }
        return isText
    }
}

extension ContentCoding {
    /// A whole content, compressed; a large one not on the caller's thread (H184).
    fileprivate func compressAside(_ bytes: [UInt8]) async -> [UInt8] {
        guard bytes.count > CodingQueue.inlineThreshold else { return compress(bytes) }
        return await CodingQueue.any().run { compress(bytes) }
    }

    /// A whole content, compressed.
    func compress(_ bytes: [UInt8]) -> [UInt8] {
        Deflater(self, size: bytes.count).compress(bytes.span, .finish)
    }
}

/// Where codings are worked on that take long enough to hold up a loop (H184).
package enum CodingQueue {
    /// Bytes, before compression or after, that are worked on at once: some 100 µs, about what a
    /// trip to another thread and back costs under load.
    package static let inlineThreshold = 16 << 10

    /// As many as this machine class has cores; a body stays on one.
    private static let queues = (0..<2).map { number in WorkQueue("parley.coding.\(number)") }

    /// One of them.
    package static func any() -> WorkQueue {
        queues[Int.random(in: queues.indices)]
    }
}
