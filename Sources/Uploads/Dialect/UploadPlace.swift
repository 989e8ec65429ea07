internal import Blobs
internal import HTTP

/// What a path under `/uploads` names (§1.1).
enum UploadPlace: Equatable, Sendable {
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
