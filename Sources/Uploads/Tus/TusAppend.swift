internal import Bytes
internal import HTTP

/// A `PATCH` of tus, parsed from its header (§6.5).
struct TusAppend: Sendable {
    /// The offset that the client states.
    private let offset: Int64
    /// The checksum; its error is reported after the kind of the upload was checked.
    private let checksum: Result<TusChecksum, UploadError>
    /// The stated length; its error is reported after the offset was checked.
    private let length: Result<Int64?, UploadError>
    private let bodyLength: Int64?

    /// Parses the header; media type and offset are checked first, in this order.
    init(_ request: Request) throws(UploadError) {
        let fields = request.fields
        try request.requirePlainBody()
        guard TusProtocol.isData(fields) else { throw .wrongMediaType }
        guard let offset = try fields.number("Upload-Offset") else {
            throw .invalid(
                "Upload-Offset is missing; send the offset of the first byte of the body, which HEAD reports."
            )
        }
        self.offset = offset
        checksum = Result { () throws(UploadError) in try TusChecksum(request) }
        length = Result { () throws(UploadError) in try fields.number("Upload-Length") }
        bodyLength = request.framing.bodyLength
    }

    /// The request as the engine handles it.
    func append() throws(UploadError) -> AppendRequest {
        var append = AppendRequest(
            rule: .exact, first: offset, bodyLength: bodyLength, end: .atLength)
        try checksum.get().add(to: &append)
        switch length {
        case .success(let total): append.total = total
        case .failure(let fault): append.totalFault = fault
        }
        return append
    }
}

/// Where a request states the checksum of its body (§6.8).
enum TusChecksum: Sendable, Equatable {
    case none
    /// In a header.
    case stated(BodyDigest)
    /// In a trailer after the body.
    case announced

    /// Parses the header of a request.
    ///
    /// - Throws: ``UploadError/invalid(_:)`` for a checksum that is malformed, stated twice, or announced without a
    ///   chunked body; ``UploadError/unsupportedChecksum``.
    init(_ request: Request) throws(UploadError) {
        let isAnnounced = TusChecksum.isAnnounced(in: request.fields)
        if let text = try request.fields.single("Upload-Checksum") {
            if isAnnounced { throw .twice }
            self = .stated(try BodyDigest(tus: text))
        } else {
            if isAnnounced && request.framing != .chunked { throw .missing }
            self = isAnnounced ? .announced : .none
        }
    }

    /// Adds the checksum to an append request, which makes it atomic.
    func add(to append: inout AppendRequest) {
        switch self {
        case .none: break
        case .stated(let digest):
            append.bodyDigests = [digest]
            append.trailer = { values throws(UploadError) in
                guard values.isEmpty else { throw .twice }
                return []
            }
        case .announced:
            append.trailer = { values throws(UploadError) in
                guard let value = values.first else { throw .missing }
                guard values.count == 1 else { throw .twice }
                return [try BodyDigest(tus: value)]
            }
        }
    }

    private static func isAnnounced(in fields: Fields) -> Bool {
        fields.values("Trailer").contains { line in
            line.split(separator: ",").contains { $0.trimmed.lowercased() == "upload-checksum" }
        }
    }
}

extension UploadError {
    fileprivate static let twice = UploadError.invalid(
        "Upload-Checksum must be sent once, as a header or as a trailer.")
    fileprivate static let missing = UploadError.invalid(

        "Trailer announces Upload-Checksum, but no such trailer follows a chunked body; send it, or leave the announcement out."
    )
}

extension DigestAlgorithm {
    /// The checksum algorithms of tus (§6.2), in the order in which they are advertised.
    static let tus: [(name: String, algorithm: DigestAlgorithm)] = [
        ("sha1", .sha1), ("sha256", .sha256), ("md5", .md5), ("crc32", .crc32),
        ("crc32c", .crc32c),
    ]
}

extension BodyDigest {
    /// Parses the value of `Upload-Checksum` (§6.8): an algorithm in lower case, one space, and the digest in
    /// standard base64.
    ///
    /// - Throws: ``UploadError/unsupportedChecksum`` for another algorithm, ``UploadError/invalid(_:)`` for a
    ///   malformed digest.
    init(tus value: String) throws(UploadError) {
        let halves = value.utf8.split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard halves.count == 2 else {
            throw .invalid(
                "Upload-Checksum must be an algorithm, one space and the base64 digest of the body."
            )
        }
        let name = Array(halves[0])
        guard let known = DigestAlgorithm.tus.first(where: { Array($0.name.utf8) == name }) else {
            throw .unsupportedChecksum
        }
        algorithm = known.algorithm
        self.value = try DeclaredDigests.bytes(
            Substring(halves[1]), count: algorithm.kind.size, in: "Upload-Checksum")
    }
}
