internal import HTTP

extension TusProtocol {
    /// An error in the words of tus: the statuses of column B (§12), and one line of text.
    static func response(to error: UploadError, _ settings: UploadSettings) -> Response {
        let wording = error.wording(settings)
        var response = self.error(
            status(of: error) ?? wording.status, reason: wording.reason, wording.message)
        error.addFields(wording, to: &response)
        if error == .stalled { response.ending = .close }
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
