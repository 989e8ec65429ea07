internal import HTTP

/// Where a request states the checksum of its body (§6.8).
enum TusChecksum: Sendable, Equatable {
    case none
    /// In a header field.
    case stated(BodyDigest)
    /// Behind the body, in a trailer.
    case announced

    /// Reads a head.
    ///
    /// - Throws: ``UploadError/invalid(_:)`` for a checksum that is none, stated twice, or announced
    ///   where no trailer can be; ``UploadError/unsupportedChecksum``.
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

    /// Makes a request all or nothing, if there is a checksum.
    func add(to append: inout Append) {
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
