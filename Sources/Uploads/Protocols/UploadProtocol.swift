internal import HTTP

/// An upload protocol: the one a request uses, or the one an upload was created with.
///
/// The raw value is the label of metrics (§11.11).
public enum UploadProtocol: String, Sendable, CaseIterable {
    /// None: the upload was announced through the messaging API.
    case api
    /// A: a session of the Google Cloud Storage protocol with `Content-Range`.
    case gcs
    /// B: tus.
    case tus
    /// C: the IETF protocol, in any of its versions.
    case ietf
    /// D: one plain request.
    case plain
    /// None: the request queries the state of an upload or the supported protocols, or cancels an upload.
    case neutral

    /// The protocol of the request that is being answered, under which its commits, takeovers and digests are
    /// counted. Set in one place: ``Uploads/answer(to:by:)``.
    @TaskLocal static var current = UploadProtocol.neutral

    /// The protocol of a request.
    init(_ selection: ProtocolSelection, of request: Request) {
        switch selection {
        case .contentRange:
            // Requests that create a session name it; at an upload only `PUT` may carry the same headers.
            let isWhole = !request.fields.contains("Content-Range")
            let requestsSession = request.method != .put && SessionCreation.isRequested(by: request)
            self = isWhole && !requestsSession ? .plain : .gcs
        case .tus: self = .tus
        case .interop: self = .ietf
        case .neutral: self = .neutral
        }
    }

    // MARK: The protocol that created an upload

    /// Reads the number of a record; `nil` for a number that is not in use.
    init?(recordNumber: Int64) {
        guard
            let creation = UploadProtocol.recordNumbers.first(where: { $0.number == recordNumber })
        else { return nil }
        self = creation.name
    }

    /// The number that records store; an upload created in one plain request is an announced one.
    var recordNumber: Int64 {
        UploadProtocol.recordNumbers.first { $0.name == self }?.number ?? 1
    }

    private static let recordNumbers: [(name: UploadProtocol, number: Int64)] = [
        (.api, 1), (.gcs, 2), (.tus, 3), (.ietf, 4),
    ]
}
