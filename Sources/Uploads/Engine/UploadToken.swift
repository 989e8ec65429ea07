internal import Base64
internal import Blobs
internal import Digests

/// The capability in an upload URL: who has it may write, ask and cancel (§1.1).
struct UploadToken: Sendable {
    let text: String

    /// A new one: 192 random bits as 32 characters.
    static func random() throws(UploadError) -> UploadToken {
        UploadToken(text: Base64.encodeForURL(try Randomness.bytes(24)))
    }

    private init(text: String) { self.text = text }

    /// Reads a path segment; `nil` for one that cannot be a token.
    init?(_ text: String) {
        guard (22...64).contains(text.utf8.count), Base64.decodeForURL(text) != nil else {
            return nil
        }
        self.text = text
    }

    /// The name of its record: the SHA-256 of the token, which does not lead back to it.
    var recordName: BlobName? {
        BlobName(String(hexadecimal: SHA256.digest(of: Array(text.utf8))))
    }
}
