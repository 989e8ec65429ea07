internal import Blobs
internal import HTTP

extension UploadError {
    /// What a client hears.
    struct Wording {
        let status: Status
        let reason: String
        let message: String
        var retryAfter: Int?
    }

    /// The one table from errors to answers.
    var wording: Wording {
        switch self {
        case .invalid(let text):
            Wording(status: .badRequest, reason: "invalid", message: text)
        case .notFound:
            Wording(status: .notFound, reason: "notFound", message: "There is no such upload.")
        case .gone:
            Wording(status: .gone, reason: "gone", message: "This upload has ended.")
        case .lengthMismatch(let text):
            Wording(status: .badRequest, reason: "lengthMismatch", message: text)
        case .beyondLength:
            Wording(
                status: .badRequest, reason: "lengthMismatch",
                message: "The body would reach beyond the length.")
        case .overflow:
            Wording(
                status: .badRequest, reason: "lengthMismatch",
                message: "More bytes came than the length; the upload has failed.")
        case .tooLarge(let limit):
            Wording(
                status: .contentTooLarge, reason: "uploadTooLarge",
                message: "The content is larger than \(limit) bytes, the most an upload may have.")
        case .checksumMismatch, .contentMismatch:
            Wording(
                status: .badRequest, reason: "checksumMismatch",
                message: "The bytes received do not have the digest that was stated.")
        case .unsupportedChecksum:
            Wording(
                status: .badRequest, reason: "unsupportedChecksum",
                message: "Checksums of this algorithm are not verified here.")
        case .offsetMismatch:
            Wording(
                status: .serviceUnavailable, reason: "offsetMismatch",
                message: "The first byte lies beyond what is held.", retryAfter: 1)
        case .unauthenticated:
            Wording(
                status: .unauthorized, reason: "invalid",
                message: "A valid bearer token is required.")
        case .forbidden:
            Wording(
                status: .forbidden, reason: "invalid",
                message: "The token does not allow uploads.")
        case .inUse:
            Wording(status: .forbidden, reason: "invalid", message: "A message uses this content.")
        case .refused:
            Wording(
                status: .badRequest, reason: "invalid",
                message: "The content has no place to go any more.")
        case .locked, .superseded:
            Wording(
                status: .serviceUnavailable, reason: "locked",
                message: "Another request is still writing.", retryAfter: 1)
        default: laterWording
        }
    }

    private var laterWording: Wording {
        switch self {
        case .stillFinalizing:
            Wording(
                status: .serviceUnavailable, reason: "locked",
                message: "The upload is being finished.", retryAfter: 2)
        case .rateLimited:
            Wording(
                status: .tooManyRequests, reason: "rateLimited",
                message: "Too many uploads are open, or too many requests came.", retryAfter: 60)
        case .insufficientStorage:
            Wording(
                status: .insufficientStorage, reason: "insufficientStorage",
                message: "There is no room for these bytes now.")
        case .quotaExceeded(let limit):
            Wording(
                status: .insufficientStorage, reason: "quotaExceeded",
                message: "The application may store \(limit) bytes, and these would be more.")
        case .busy:
            Wording(
                status: .serviceUnavailable, reason: "backendError",
                message: "Too many files are open.", retryAfter: 1)
        case .unavailable:
            Wording(
                status: .serviceUnavailable, reason: "backendError",
                message: "Where uploads are kept cannot be reached now.", retryAfter: 1)
        case .stalled:
            Wording(
                status: .serviceUnavailable, reason: "stalled",
                message: "The body stopped arriving; what came is kept.", retryAfter: 1)
        case .wrongMediaType:
            Wording(
                status: .unsupportedMediaType, reason: "invalid",
                message: "The body is not of the media type that upload data has here.")
        case .concatenated:
            Wording(
                status: .forbidden, reason: "invalid",
                message: "A concatenation takes no bytes of its own.")
        case .codedBody:
            Wording(
                status: .unsupportedMediaType, reason: "invalid",
                message: "Bodies are stored as they are sent; no content coding is taken.")
        default:
            Wording(
                status: .internalServerError, reason: "backendError",
                message: "The server could not store the bytes.")
        }
    }

    /// What a failing disk means to a client.
    init(_ error: DiskError) {
        self =
            switch error.kind {
            case .full: .insufficientStorage
            case .tooManyOpen: .busy
            default: .backend
            }
    }
}
