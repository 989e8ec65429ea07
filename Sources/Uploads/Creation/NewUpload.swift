internal import Blobs

/// An upload that has just been created, durably.
struct NewUpload: Sendable {
    /// The absolute upload URL, a capability.
    let url: String
    /// The name of its record.
    let name: BlobName
}
