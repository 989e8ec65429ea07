import MessagingStore

/// Where uploads to a bucket are kept while they arrive (uploads §10.5).
public enum UploadTail: String, Sendable, CaseIterable {
    /// As remote where several processes may share a database.
    case auto
    /// In the data folder: the process that has it goes on with them.
    case local
    /// In the bucket and the database: any process goes on with them.
    case remote
}

extension Settings {
    /// Whether any process may go on with an upload.
    func sharesUploads(_ store: MessagingStore) -> Bool {
        switch bucket.tail {
        case .local: false
        // On a file one process has the database to itself.
        case .auto, .remote: store.isShared
        }
    }
}
