/// Where an upload stands (§1.3).
enum UploadState: UInt8, Sendable {
    case created = 1
    case receiving = 2
    case finalizing = 3
    case complete = 4
    case failed = 5
    case cancelled = 6
    case expired = 7

    /// Takes bytes.
    var isOpen: Bool { self == .created || self == .receiving }
    /// Nothing will ever change it, but forgetting.
    var isTerminal: Bool { rawValue >= UploadState.complete.rawValue }

    /// Ended without a content.
    var isGone: Bool { rawValue >= UploadState.failed.rawValue }

    /// As the neutral status says it.
    var name: String { "\(self)" }
}

/// Who created an upload; decides what `DELETE` without a protocol header answers (§2).
enum CreationDialect: UInt8, Sendable {
    case api = 1
    case gcs = 2
    case tus = 3
    case ietf = 4
}

/// Why an upload failed; kept so that `HEAD` can tell a wrong digest from lost bytes.
enum FailureReason: UInt8, Sendable {
    case digest = 1
    case storageLost = 2
    case refused = 3
    case quota = 4
    case overflow = 5
}
