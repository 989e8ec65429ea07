import Blobs
import Bytes
import HTTP
import ImportExport
package import JSON
package import MessagingWire
import SystemSupport
import Uploads

/// Reads the body of a request as JSON: step 6 of the checks (platform-api §1.6).
enum RequestBodyReader {
    /// The most bytes of a JSON body (platform-api §7).
    static let limit = BodyPolicy.default.limit
    /// The most bytes of a body that the handler reads while it arrives: 1 TiB.
    static let streamedLimit: Int64 = 1 << 40

    /// Returns the content coding of the body, before it is read (H117).
    ///
    /// - Throws: 415 for an unsupported coding.
    static func coding(of request: Request) throws(APIError) -> ContentCoding? {
        do throws(ContentCoding.Unsupported) {
            return try ContentCoding.of(request)
        } catch {
            throw APIError(
                .invalidHeader, "The body may have one content coding: gzip or deflate.",
                data: .header("Content-Encoding"), status: 415)
        }
    }

    /// Returns the whole body.
    ///
    /// - Throws: 413 for one above the limit.
    static func bytes(of body: any RequestBody) async throws -> [UInt8] {
        let bytes = try await body.collect()
        guard bytes.count <= limit else { throw tooLarge(limit) }
        return bytes
    }

    /// Parses the body; an empty body counts as `{}`, that of a patch as `[]` (ruling 24).
    ///
    /// - Parameter type: The `Content-Type`, for the error message only: JSON that is declared as a form, as `curl -d`
    ///   does, is accepted.
    static func value(
        of bytes: [UInt8], isPatch: Bool = false, _ type: String? = nil
    ) throws -> JSONValue {
        do throws(JSONError) {
            let bytes = bytes.isEmpty ? Array((isPatch ? "[]" : "{}").utf8) : bytes
            return try JSONDocument(bytes).root
        } catch {
            // `curl -d` declares JSON as a form: text that begins like JSON is meant as JSON.
            let type = type?.lowercased() ?? ""
            let isForm =
                (type.hasPrefix("application/x-www-form-urlencoded")
                    || type.hasPrefix("multipart/"))
                && !bytes.lazy.drop { byte in byte <= 0x20 }.prefix(1)
                    .contains { byte in [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(byte) }
            throw APIError(
                .invalidRequest,
                isForm
                    ? "The body is a form; send JSON with `Content-Type: application/json`."
                    : "The body is not valid JSON: \(error).")
        }
    }

    /// - Parameter reason: The reason of the HTTP layer, without a full stop.
    static func tooLarge(
        _ limit: Int64, _ reason: String = "The request body is too large"
    ) -> APIError {
        let advice =
            limit == Self.limit
            ? "large parts of messages are uploaded as content (POST …/content)"
            : "send more in several requests"
        return APIError(
            .invalidRequest,
            "\(reason): the limit here is \(Int(limit).grouped) bytes; \(advice).", status: 413)
    }
}

extension JSONValue {
    /// Returns this value, which must be an object.
    package func asObject() throws(APIError) -> JSONValue {
        guard kind == .object else {
            throw APIError(.invalidRequest, "The body must be a JSON object.")
        }
        return self
    }

    /// Returns this value, which must be an array.
    func asArray() throws(APIError) -> JSONValue {
        guard kind == .array else {
            throw APIError(.invalidRequest, "The body must be a JSON array.")
        }
        return self
    }

    /// Returns this value, which must be a patch: an array of operations, or one operation.
    func asPatch() throws(APIError) -> JSONValue {
        guard PatchJSON.isPatch(self) else {
            throw APIError(
                .invalidRequest,
                "The body must be an array of operations such as \(PatchType.example).")
        }
        if let first = kind == .array ? self.elements.first(where: { _ in true }) : self,
            first["op"] != nil || first["path"] != nil,
            let missing = ["operation", "property"].first(where: { first[$0] == nil })
        {
            throw APIError(
                .missingProperty,
                """
                Object is missing required member '\(missing)'; operations are such as \
                \(PatchType.example), not those of JSON Patch
                """, data: .property(missing))
        }
        return self
    }
}

/// A body of any length that is written to a file before it is handled, because a request with an `Idempotency-Key` is
/// first compared with an earlier one by the digest of its whole body (X2).
final actor BufferedBody: RequestBody {
    nonisolated let length: Int64?
    /// The SHA-256 of the body.
    nonisolated let digest: [UInt8]

    private let file: ScratchFile
    private let queue: WorkQueue
    private let onFault: @Sendable (any Error) -> Void
    private var offset: Int64 = 0

    /// The most bytes of one read.
    private static let readSize = 256 << 10

    /// Receives a body.
    ///
    /// - Parameters:
    ///   - requireSpace: Called before the file is created and after each write; throws when the disk is full.
    ///   - onFault: Called with an error of the disk during a later read, for the log.
    /// - Throws: `BodyError`, `DiskError`, and what `requireSpace` throws.
    init(
        _ body: any RequestBody, in folder: BlobFolder,
        requireSpace: @escaping @Sendable () throws -> Void,
        onFault: @escaping @Sendable (any Error) -> Void
    ) async throws {
        let queue = WorkQueue("parley.body")
        let number = UInt64.random(in: .min ... .max)
        let file = Locked(
            try await queue.run { () throws in
                try requireSpace()
                return try ScratchFile(in: folder, "body-\(number)")
            })
        var hash = SHA256()
        var buffer = BodyBuffer(capacity: Self.readSize)
        repeat {
            try await body.read(into: &buffer)
            let bytes = Array(buffer.bytes)
            hash.update(bytes.span)
            try await queue.run { () throws in
                let isWritten = try file.withLock { file in try file.append(bytes) }
                if isWritten { try requireSpace() }
            }
        } while buffer.count > 0
        self.file = try await queue.run { () throws in
            try file.withLock { file in
                try file.flush()
                return file
            }
        }
        self.queue = queue
        self.onFault = onFault
        digest = hash.digest
        length = self.file.size
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        let (count, start) = (buffer.capacity, offset)
        buffer.removeAll()
        do {
            let bytes = try await queue.run { [file] in try file.read(count, at: start) }
            _ = buffer.append(bytes.span)
            offset += Int64(bytes.count)
        } catch {
            onFault(error)
            throw .refused(
                Refusal(.internalServerError, "X2", "The body cannot be read from the disk."))
        }
    }

    nonisolated func interrupt() {}
}
