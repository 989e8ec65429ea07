/// How far content has come (X7).
public enum TransferStatus: String, CaseIterable, Sendable {
    /// No byte has come yet.
    case awaitingUpload = "awaiting_upload"
    /// Bytes have come, but not all, or they are not checked yet.
    case uploading
    /// It is complete and can be downloaded.
    case ready
    /// It will never be complete.
    case failed
    /// Its upload took too long.
    case expired
}
