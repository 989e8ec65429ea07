internal import Blobs
internal import Bytes
import COpenSSL
internal import HTTP

/// The capability in an upload URL: who has it may write, ask and cancel (§1.1).
struct UploadToken: Sendable {
    let text: String

    /// A new one: 192 random bits as 32 characters.
    static func random() throws(UploadError) -> UploadToken {
        UploadToken(text: Base64.encodeForURL(try SecureRandom.bytes(24)))
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

/// What a path under `/uploads` names (§1.1).
enum UploadPath: Equatable, Sendable {
    /// `/uploads`, also with a slash behind it: uploads are created here.
    case creation
    /// `/uploads/{token}`: one upload, by the name of its record.
    case resource(BlobName)

    /// `nil` for a path that can be neither.
    init?(_ target: RequestTarget) {
        // What cannot be decoded names nothing.
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

/// Bytes nobody can guess, from the operating system by way of OpenSSL.
enum SecureRandom {
    /// - Throws: ``UploadError/backend`` when the system has none; nothing is made from less.
    static func bytes(_ count: Int) throws(UploadError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = unsafe bytes.withUnsafeMutableBufferPointer { target in
            unsafe RAND_bytes(target.baseAddress, Int32(target.count))
        }
        guard result == 1 else { throw .backend }
        return bytes
    }
}
