package import SystemSupport

extension Response {
    /// This response, compressed where the client accepts it and it saves bytes (H111–H116).
    ///
    /// For routes whose responses may be compressed: always adds `Vary`. Not compressed are
    /// contents below the minimum, of a type that does not shrink, already coded or partial. A
    /// compressed response has another entity tag (H102).
    ///
    /// - Parameters:
    ///   - fields: The request's header fields.
    ///   - minimum: The smallest content to compress, in bytes.
    ///   - holdsSecret: Whether the content mixes a secret with text that callers choose: the
    ///     compressed length would reveal the secret (BREACH, H115).
    public func compressed(
        for fields: Fields, from minimum: Int = 1024, holdsSecret: Bool = false
    ) async -> Response {
        var response = self
        response.fields.add("Vary", "Accept-Encoding")
        guard !holdsSecret, let coding = coding(for: fields, from: minimum) else { return response }
        if case .stream(let handler, _) = content {
            response.content = .stream(CompressedStream(handler, coding))
        } else {
            guard let bytes = content.joinedBytes else { return response }
            let coded = await coding.compressOffLoop(bytes)
            guard coded.count < bytes.count else { return response }
            response.content = .bytes(coded)
        }
        response.fields.add("Content-Encoding", coding.name)
        response.fields.replace("ETag") { tag in EntityTag(tag)?.coded(coding.name).text ?? tag }
        return response
    }

    /// What ``compressed(for:from:holdsSecret:)`` returns when it does not compress; `nil` when it
    /// would compress. Never waits.
    public func uncompressed(for fields: Fields, from minimum: Int = 1024) -> Response? {
        guard coding(for: fields, from: minimum) == nil else { return nil }
        var response = self
        response.fields.add("Vary", "Accept-Encoding")
        return response
    }

    /// The coding to use for this response. Cheap conditions are checked first.
    private func coding(for fields: Fields, from minimum: Int) -> ContentCoding? {
        switch content {
        case .bytes, .pieces:
            guard content.length ?? 0 >= minimum else { return nil }
        case .stream: break
        case .none, .file, .parts, .withheld: return nil
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
    /// Compresses a content; a large one on another thread (H184).
    fileprivate func compressOffLoop(_ bytes: [UInt8]) async -> [UInt8] {
        guard bytes.count > CodingQueue.inlineThreshold else { return compress(bytes) }
        return await CodingQueue.any().run { compress(bytes) }
    }

    /// Compresses a content.
    package func compress(_ bytes: [UInt8]) -> [UInt8] {
        Deflater(self, size: bytes.count).compress(bytes.span, .finish)
    }
}

/// Queues for compression that would block an event loop for too long (H184).
package enum CodingQueue {
    /// Up to this many bytes, before or after compression, are processed on the loop: about 100 µs,
    /// as much as a switch to another thread and back costs under load.
    static let inlineThreshold = 16 << 10

    /// One per core of the machines this is made for; a body stays on one queue.
    private static let queues = (0..<2).map { number in WorkQueue("parley.coding.\(number)") }

    /// A random queue.
    package static func any() -> WorkQueue {
        queues[Int.random(in: queues.indices)]
    }
}
