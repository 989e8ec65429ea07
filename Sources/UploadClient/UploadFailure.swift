internal import HTTPClient

/// Why a file could not be brought: one line for a person.
public struct UploadFailure: Error, CustomStringConvertible {
    /// The line, without a full stop.
    public let description: String
    /// Whether it may go on after a while: the network broke, or the server has no time.
    let isPassing: Bool
    /// Whether the caller himself stopped it.
    public let isCancelled: Bool

    init(_ description: String, isPassing: Bool = false, isCancelled: Bool = false) {
        self.description = description
        self.isPassing = isPassing
        self.isCancelled = isCancelled
    }

    init(_ error: HTTPClientError) {
        let isPassing =
            switch error.kind {
            case .unresolved, .unreachable, .timedOut, .broken: true
            case .unavailable, .invalidRequest, .refusedAddress, .insecure, .tooLarge,
                .unreadableBody, .cancelled:
                false
            }
        self.init(
            error.kind == .cancelled ? "stopped" : "\(error)", isPassing: isPassing,
            isCancelled: error.kind == .cancelled)
    }
}
