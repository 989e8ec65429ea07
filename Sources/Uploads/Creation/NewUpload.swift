internal import Blobs

/// An upload that has just been created, durably.
struct NewUpload: Sendable {
    /// The path of the upload URL, a capability.
    let path: String
    /// The name of its record.
    let name: BlobName
}
