internal import Blobs

/// What a storage of contents could not do.
enum StorageError: Error, Equatable {
    /// The local disk did not do what was asked.
    case disk(DiskError)
    /// There is no such content.
    case missing

    init(_ error: DiskError) { self = error.kind == .missing ? .missing : .disk(error) }
}

extension UploadError {
    /// What a failing storage means to a client.
    init(_ error: StorageError) {
        self =
            switch error {
            case .disk(let error): UploadError(error)
            case .missing: .backend
            }
    }
}
