import Messaging
import MessagingWire
import Uploads

extension APIError {
    /// What an upload that cannot be created is answered.
    ///
    /// - Parameter uploads: Where it was to be created; the texts name its limits.
    /// - Throws: The error itself when it is a fault of ours.
    init(_ error: UploadError, _ uploads: Uploads) throws {
        switch error {
        case .tooLarge(let limit):
            self = APIError(
                Rejection.invalid(
                    "Upload-Content-Length", .uploadLength, .init(limit: Int(limit))), .platform)
        case .rateLimited:
            // Uploads stay open until their owner ends them or they expire, so a retry after a second is too early.
            self = .rateLimited(
                "\(uploads.maximumOpenPerOwner) uploads are open here, and there may be no more.",
                retryAfter: 60)
        case .insufficientStorage:
            self.init(.serviceUnavailable, "There is no room for the content now.")
        case .quotaExceeded(let limit):
            self.init(
                .quotaExceeded,
                "The application may store \(limit) bytes, and this content would be more.")
        case .busy:
            self.init(.serviceUnavailable, "Too many files are open.")
        default: throw error
        }
    }
}
