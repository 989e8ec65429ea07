internal import Blobs
internal import HTTP

/// Why a download is not given.
enum DownloadError: Error, Equatable {
    case forged
    case expired
    case notFound
    case preconditionFailed
    /// With the `Content-Range` that goes with it.
    case unsatisfiable(String)
    case method
    case busy
    /// The store the bytes are in cannot be reached.
    case unavailable
    case backend

    /// What a failing storage means to whoever downloads.
    init(_ error: StorageError) {
        self =
            switch error {
            case .missing: .notFound
            case .disk(let error) where error.kind == .tooManyOpen: .busy
            case .disk, .lost: .backend
            case .unavailable, .unregistered, .fenced: .unavailable
            }
    }

    var response: Response {
        let (status, reason, message) = wording
        var response = Response(
            status, "application/json",
            ErrorJSON.bytes(status, reason: reason, message: message, domain: "download"))
        response.fields.add("Cache-Control", "no-store")
        switch self {
        case .unsatisfiable(let range): response.fields.add("Content-Range", range)
        case .method: response.fields.add("Allow", Downloads.methods)
        case .busy, .unavailable: response.fields.add("Retry-After", "1")
        default: break
        }
        return response
    }

    private var wording: (Status, String, String) {
        switch self {
        case .forged: (.forbidden, "invalid", "The signature of this URL is not valid.")
        case .expired: (.forbidden, "expired", "This URL has expired; ask for a new one.")
        case .notFound: (.notFound, "notFound", "There is no such content.")
        case .preconditionFailed:
            (.preconditionFailed, "invalid", "The content is not the one expected.")
        case .unsatisfiable:
            (.rangeNotSatisfiable, "invalid", "No byte of the range is in the content.")
        case .method: (.methodNotAllowed, "invalid", "This method has no meaning here.")
        case .busy: (.serviceUnavailable, "backendError", "Too many files are open.")
        case .unavailable:
            (.serviceUnavailable, "backendError", "The content cannot be reached now.")
        case .backend: (.internalServerError, "backendError", "The content could not be read.")
        }
    }
}
