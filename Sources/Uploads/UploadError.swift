internal import Blobs
internal import HTTP

/// Why an upload request fails: each case once, with its status in one table (§3.9, §12).
public enum UploadError: Error, Equatable, Sendable {
    /// The request is invalid; the text says why and contains nothing that the client sent.
    case invalid(String)
    /// The method is not supported here; with the value of `Allow` and an explanation.
    case methodNotAllowed(allow: String, text: String)
    /// The upload is not known; malformed and deleted ones are treated alike (§1.1).
    case notFound
    /// The upload ended without content, or its content was deleted.
    case gone
    /// The stated length contradicts the known length or the stored bytes.
    case lengthMismatch(String)
    /// The body reaches beyond the length of the content.
    case beyondLength
    /// The body reached beyond the length of the content, and the upload has failed.
    case overflow
    /// The content exceeds the maximum size; with that size in bytes (ruling 35).
    case tooLarge(limit: Int64)
    /// The digest of the body is not the stated one; the bytes were discarded.
    case checksumMismatch
    /// The digest of the content is not the declared one; the upload has failed.
    case contentMismatch
    /// The checksum algorithm is not supported.
    case unsupportedChecksum
    /// The first byte is beyond the offset, for clients that cannot read a range (§5.7).
    case offsetMismatch
    /// The request to create an upload has no valid credentials; with the sentence for the client, and for a session a
    /// nonce for a new identity token.
    case unauthenticated(String, nonce: String? = nil)
    /// The credentials do not allow creating uploads.
    case forbidden
    /// A message uses the content.
    case inUse
    /// The content may not exist any more.
    case refused
    /// Another request writes to the upload and did not stop in time.
    case locked
    /// Another process continues the upload.
    case superseded
    /// Finishing takes longer than a request waits.
    case stillFinalizing
    /// The token is used for too many requests.
    case rateLimited
    /// The owner has as many open uploads as allowed.
    case tooManyUploads
    /// The disk has no space.
    case insufficientStorage
    /// The application would exceed its quota; with the quota in bytes.
    case quotaExceeded(Int64)
    /// An internal error.
    case backend
    /// The registry of records or the bucket cannot be reached; nothing is lost.
    case unavailable
    /// Too many files are open; nothing is lost.
    case busy
    /// The body arrives too slowly, or the server is stopping; received bytes are kept.
    case stalled
    /// The body does not have the media type of upload data.
    case wrongMediaType
    /// The upload is a concatenation and accepts no bytes.
    case concatenated
    /// The body has a content coding, which is not supported.
    case codedBody
}

extension UploadError {
    /// Status, kind and text of an error.
    struct Details {
        let status: Status
        let kind: UploadErrorKind
        /// A reason of §3.9.
        let reason: String
        /// What is wrong, the rule with its limit, and what to do.
        let message: String
        /// Seconds after which the request may be retried.
        fileprivate var retryAfter: Int?
    }

    /// The table of errors.
    func details(_ settings: UploadSettings) -> Details {
        switch self {
        case .invalid(let text):
            Details(status: .badRequest, kind: .invalidRequest, reason: "invalid", message: text)
        case .methodNotAllowed(_, let text):
            Details(
                status: .methodNotAllowed, kind: .methodNotAllowed, reason: "invalid",
                message: text)
        case .wrongMediaType:
            Details(
                status: .unsupportedMediaType, kind: .invalidHeader, reason: "invalid",
                message:
                    "Content-Type is not that of upload data; send application/offset+octet-stream with tus, or application/partial-upload in a PATCH with Upload-Complete."
            )
        case .codedBody:
            Details(
                status: .unsupportedMediaType, kind: .invalidHeader, reason: "invalid",
                message:
                    "Content-Encoding must be identity or absent; send the bytes without a content coding."
            )
        case .unauthenticated(let text, _):
            Details(
                status: .unauthorized, kind: .authenticationRequired, reason: "invalid",
                message: text)
        case .forbidden:
            Details(
                status: .forbidden, kind: .accessDenied, reason: "invalid",
                message: "The token may not create uploads; use a token that may write.")
        default: stateDetails(settings) ?? digestDetails ?? limitDetails(settings)
        }
    }

    /// Errors because of the state of the upload.
    private func stateDetails(_ settings: UploadSettings) -> Details? {
        switch self {
        case .notFound:
            Details(
                status: .notFound, kind: .notFound, reason: "notFound",
                message: "There is no upload at this URL; create a new upload.")
        case .gone:
            Details(
                status: .gone, kind: .objectDeleted, reason: "gone",
                message:
                    "The upload was cancelled, has failed or has expired; create a new upload.")
        case .concatenated:
            Details(
                status: .forbidden, kind: .invalidOperation, reason: "invalid",
                message:
                    "A final concatenation accepts no bytes; send them to its partial uploads before it is created."
            )
        case .inUse:
            Details(
                status: .forbidden, kind: .invalidOperation, reason: "invalid",
                message: "A message uses this content; delete the message first.")
        case .refused:
            Details(
                status: .badRequest, kind: .objectDeleted, reason: "invalid",
                message:
                    "The conversation of this content was deleted, so the upload has failed; create the content in another conversation."
            )
        case .locked:
            Details(
                status: .serviceUnavailable, kind: .serviceUnavailable, reason: "locked",
                message:
                    "Another request to this upload did not stop within \(settings.takeoverWait / 1000) seconds; retry after the seconds in Retry-After.",
                retryAfter: 1)
        case .superseded:
            Details(
                status: .serviceUnavailable, kind: .serviceUnavailable, reason: "locked",
                message:
                    "Another process of the server continues this upload; retry after the seconds in Retry-After.",
                retryAfter: 1)
        case .stillFinalizing:
            Details(
                status: .serviceUnavailable, kind: .serviceUnavailable, reason: "locked",
                message:
                    "All bytes are received and are still being checked; retry after the seconds in Retry-After.",
                retryAfter: 2)
        case .offsetMismatch:
            Details(
                status: .serviceUnavailable, kind: .serviceUnavailable, reason: "offsetMismatch",
                message:
                    "Content-Range begins beyond the last stored byte; query the offset with Content-Range: bytes */* and continue there.",
                retryAfter: 1)
        default: nil
        }
    }

    /// Errors because bytes, lengths or digests contradict each other.
    private var digestDetails: Details? {
        switch self {
        case .lengthMismatch(let text):
            Details(
                status: .badRequest, kind: .invalidRequest, reason: "lengthMismatch",
                message: text)
        case .beyondLength:
            Details(
                status: .badRequest, kind: .invalidRequest, reason: "lengthMismatch",
                message:
                    "The body reaches beyond the length of the upload; send only the bytes from the offset that HEAD reports to that length."
            )
        case .overflow:
            Details(
                status: .badRequest, kind: .invalidRequest, reason: "lengthMismatch",
                message:
                    "The body reached beyond the length of the upload, which has failed; create a new upload with the right length."
            )
        case .checksumMismatch:
            Details(
                status: .badRequest, kind: .invalidRequest, reason: "checksumMismatch",
                message:
                    "The body does not have the digest that the request states, so none of its bytes are kept; send them again from the same offset."
            )
        case .contentMismatch:
            Details(
                status: .badRequest, kind: .invalidRequest, reason: "checksumMismatch",
                message:
                    "The content does not have the digest that was declared for it, so the upload has failed; create a new upload and send all bytes again."
            )
        case .unsupportedChecksum:
            Details(
                status: .badRequest, kind: .invalidRequest, reason: "unsupportedChecksum",
                message:
                    "Upload-Checksum names an unknown algorithm; use one of \(DigestAlgorithm.tus.map(\.name).joined(separator: ", "))."
            )
        default: nil
        }
    }

    /// Errors because of a limit, and internal errors.
    private func limitDetails(_ settings: UploadSettings) -> Details {
        switch self {
        case .tooLarge(let limit):
            Details(
                status: .contentTooLarge, kind: .invalidRequest, reason: "uploadTooLarge",
                message:
                    "The content is larger than \(limit) bytes, the largest length of an upload; send less, or split it."
            )
        case .rateLimited:
            Details(
                status: .tooManyRequests, kind: .rateLimited, reason: "rateLimited",
                message:
                    "The token is used for more requests than the server allows; retry after the seconds in Retry-After.",
                retryAfter: 60)
        case .tooManyUploads:
            Details(
                status: .tooManyRequests, kind: .rateLimited, reason: "rateLimited",
                message:
                    "At most \(settings.maxOpenUploadsPerOwner) uploads of one owner may be open; finish or cancel one, or retry after the seconds in Retry-After.",
                retryAfter: 60)
        case .insufficientStorage:
            Details(
                status: .insufficientStorage, kind: .serviceUnavailable,
                reason: "insufficientStorage",
                message:
                    "The disk of the server has no space for these bytes; retry later from the offset that HEAD reports."
            )
        case .quotaExceeded(let limit):
            Details(
                status: .insufficientStorage, kind: .quotaExceeded, reason: "quotaExceeded",
                message:
                    "The application may store \(limit) bytes, and these would be more; delete contents first."
            )
        case .busy:
            Details(
                status: .serviceUnavailable, kind: .serviceUnavailable, reason: "backendError",
                message:
                    "The server has too many open files; retry after the seconds in Retry-After.",
                retryAfter: 1)
        case .unavailable:
            Details(
                status: .serviceUnavailable, kind: .serviceUnavailable, reason: "backendError",
                message:
                    "The database or the object store cannot be reached, and nothing is lost; retry after the seconds in Retry-After.",
                retryAfter: 1)
        case .stalled:
            Details(
                status: .serviceUnavailable, kind: .serviceUnavailable, reason: "stalled",
                message:
                    "The body stopped arriving, or the server is stopping; the bytes received are kept, so continue at the offset that HEAD reports.",
                retryAfter: 1)
        default:
            Details(
                status: .internalServerError, kind: .internalServerError, reason: "backendError",
                message:
                    "The server could not store the bytes; retry once, and report X-Request-Id to the operator if it happens again."
            )
        }
    }

    /// The error that a client sees when the disk fails.
    init(_ error: DiskError) {
        self =
            switch error.kind {
            case .full: .insufficientStorage
            case .tooManyOpen: .busy
            default: .backend
            }
    }
}

extension UploadError {
    /// The JSON response to a request, without the headers that every response of the resource carries.
    func response(to request: Request, _ settings: UploadSettings) -> Response {
        let details = details(settings)
        var response = Response(
            details.status, "application/json",
            UploadErrorJSON.bytes(
                details.status, details.kind, reason: details.reason, message: details.message,
                page: settings.errorPage(for: request), nonce: nonce))
        addFields(details, to: &response)
        if self == .stalled { response.ending = .close }
        return response
    }

    private var nonce: String? {
        if case .unauthenticated(_, let nonce) = self { nonce } else { nil }
    }

    /// Adds the headers that the error has in every protocol.
    func addFields(_ details: Details, to response: inout Response) {
        if let seconds = details.retryAfter { response.fields.add("Retry-After", "\(seconds)") }
        switch self {
        case .unauthenticated(_, let nonce):
            response.fields.add(
                "WWW-Authenticate", nonce.map { nonce in "Layer nonce=\"\(nonce)\"" } ?? "Bearer")
        case .codedBody: response.fields.add("Accept-Encoding", "identity")
        case .methodNotAllowed(let methods, _): response.fields.add("Allow", methods)
        default: break
        }
    }
}
