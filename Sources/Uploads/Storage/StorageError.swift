internal import Blobs
internal import ObjectStore

/// What a storage of contents could not do.
enum StorageError: Error, Equatable {
    /// The local disk did not do what was asked.
    case disk(DiskError)
    /// There is no such content.
    case missing
    /// Bytes that were taken are gone.
    case lost
    /// The store could not be reached, or would not; it may change its mind.
    case unavailable(ObjectStoreError)
    /// Those who keep the records of several processes could not be asked.
    case unregistered
    /// Another process has taken over.
    case fenced

    /// Waiting changes nothing: the bytes are not there.
    var isFinal: Bool {
        switch self {
        case .missing, .lost: true
        case .disk(let error): error.kind == .damaged
        case .unavailable, .unregistered, .fenced: false
        }
    }

    init(_ error: DiskError) { self = error.kind == .missing ? .missing : .disk(error) }

    init(_ error: ObjectStoreError) {
        self =
            switch error.kind {
            case .missingObject: .missing
            case .missingUpload: .lost
            default: .unavailable(error)
            }
    }
}

extension UploadError {
    /// What a failing storage means to a client.
    init(_ error: StorageError) {
        self =
            switch error {
            case .disk(let error): UploadError(error)
            case .missing, .lost: .backend
            // What is held stays held, and the client may try again.
            case .unavailable, .unregistered: .unavailable
            case .fenced: .superseded
            }
    }
}
