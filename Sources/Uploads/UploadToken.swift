internal import Blobs
internal import Bytes
import COpenSSL
internal import HTTP

/// The secret in an upload URL: every client that has it may write to, query and cancel the upload (§1.1).
struct UploadToken: Sendable {
    let text: String

    /// A new token: 192 random bits as 32 characters.
    static func random() throws(UploadError) -> UploadToken {
        UploadToken(text: Base64.encodeForURL(try SecureRandom.bytes(24)))
    }

    private init(text: String) { self.text = text }

    /// Parses a path segment; `nil` when it cannot be a token.
    init?(_ text: String) {
        guard (22...64).contains(text.utf8.count), Base64.decodeForURL(text) != nil else {
            return nil
        }
        self.text = text
    }

    /// The name of the record: the SHA-256 of the token, from which the token cannot be derived.
    var recordName: BlobName? {
        BlobName(String(hexadecimal: SHA256.digest(of: Array(text.utf8))))
    }
}

/// The target of a path under `/uploads` (§1.1).
enum UploadPath: Equatable, Sendable {
    /// `/uploads`, with or without a trailing slash: the creation endpoint.
    case creation
    /// `/uploads/{token}`: one upload, by the name of its record.
    case resource(BlobName)

    /// `nil` for any other path.
    init?(_ target: RequestTarget) {
        // A malformed path names nothing.
        guard let segments = try? target.segments() else { return nil }
        switch segments.count {
        case 1: self = .creation
        case 2 where segments[1].isEmpty: self = .creation
        case 2:
            guard let name = UploadToken(segments[1])?.recordName else { return nil }
            self = .resource(name)
        default: return nil
        }
    }
}

/// Random bytes of the operating system, read through OpenSSL.
enum SecureRandom {
    /// - Throws: ``UploadError/backend`` when no randomness is available.
    static func bytes(_ count: Int) throws(UploadError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // OpenSSL writes as many bytes as the array has, inside the call.
        let result = unsafe bytes.withUnsafeMutableBufferPointer { target in
            unsafe RAND_bytes(target.baseAddress, Int32(target.count))
        }
        guard result == 1 else { throw .backend }
        return bytes
    }
}
