internal import Blobs
internal import HTTP

/// Why a download fails.
enum DownloadError: Error, Equatable {
    case forged
    case expired
    case notFound
    case preconditionFailed
    /// With the value of `Content-Range`.
    case unsatisfiable(String)
    case method
    case busy
    /// The bucket cannot be reached.
    case unavailable
    case backend

    /// The error that a client sees when the storage fails.
    init(_ error: StorageError) {
        self =
            switch error {
            case .missing: .notFound
            case .disk(let error) where error.kind == .tooManyOpen: .busy
            case .disk, .lost: .backend
            case .unavailable, .unregistered, .fenced: .unavailable
            }
    }

    func response(to request: Request, _ settings: UploadSettings) -> Response {
        let (status, kind, reason, message) = details
        var response = Response(
            status, "application/json",
            UploadErrorJSON.bytes(
                status, kind, reason: reason, message: message,
                page: settings.errorPage(for: request), domain: "download"))
        response.fields.add("Cache-Control", "no-store")
        switch self {
        case .unsatisfiable(let range): response.fields.add("Content-Range", range)
        case .method: response.fields.add("Allow", Downloads.methods)
        case .busy, .unavailable: response.fields.add("Retry-After", "1")
        default: break
        }
        return response
    }

    private var details: (Status, UploadErrorKind, String, String) {
        switch self {
        case .forged:
            (
                .forbidden, .accessDenied, "invalid",
                "The signature of this URL is invalid or missing; use a download_url as the API returned it."
            )
        case .expired:
            (
                .forbidden, .accessDenied, "expired",
                "This URL has expired; get a new one from the refresh_url of the content."
            )
        case .notFound:
            (
                .notFound, .notFound, "notFound",
                "There is no content at this URL; it may have been deleted with its message."
            )
        case .preconditionFailed:
            (
                .preconditionFailed, .versionMismatch, "invalid",
                "The content does not match If-Match or If-Unmodified-Since; request it without them."
            )
        case .unsatisfiable:
            (
                .rangeNotSatisfiable, .invalidHeader, "invalid",
                "Range names no byte of the content; Content-Range of this answer states its size."
            )
        case .method:
            (
                .methodNotAllowed, .methodNotAllowed, "invalid",
                "A download URL accepts \(Downloads.methods) only."
            )
        case .busy:
            (
                .serviceUnavailable, .serviceUnavailable, "backendError",
                "The server has too many open files to read the content; retry after the seconds in Retry-After."
            )
        case .unavailable:
            (
                .serviceUnavailable, .serviceUnavailable, "backendError",
                "The storage of the content cannot be reached; retry after the seconds in Retry-After."
            )
        case .backend:
            (
                .internalServerError, .internalServerError, "backendError",
                "The content could not be read; report X-Request-Id to the operator."
            )
        }
    }
}
