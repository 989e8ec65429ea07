import MessagingWire
import Uploads

extension APIError {
    /// What an upload that cannot be created is answered.
    ///
    /// - Throws: The error itself when it is a fault of ours.
    init(_ error: UploadError) throws {
        switch error {
        case .tooLarge:
            self.init(
                .invalidProperty, "The content is larger than an upload may be.",
                data: .property("Upload-Content-Length"))
        case .rateLimited:
            self.init(.rateLimitExceeded, "Too many uploads are open.")
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
