internal import HTTP

extension TusProtocol {
    /// An error in the words of tus: the statuses of column B (§12), and one line of text.
    static func response(to error: UploadError) -> Response {
        let wording = error.wording
        var response = self.error(
            status(of: error) ?? wording.status, reason: wording.reason, wording.message)
        if let seconds = wording.retryAfter { response.fields.add("Retry-After", "\(seconds)") }
        switch error {
        case .stalled: response.ending = .close
        case .codedBody: response.fields.add("Accept-Encoding", "identity")
        default: break
        }
        return response
    }

    /// What other dialects say otherwise.
    private static func status(of error: UploadError) -> Status? {
        switch error {
        case .beyondLength: .contentTooLarge
        case .checksumMismatch: Status(460, "Checksum Mismatch")
        // The one refusal that clients take for a passing one (§6.4).
        case .locked: Status(423, "Locked")
        default: nil
        }
    }
}
