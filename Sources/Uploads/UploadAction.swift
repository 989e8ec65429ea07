internal import HTTP

/// What a request to the upload resource wants, decided from its head alone (§2).
enum UploadAction: Sendable {
    /// Bytes or a status query. What is wrong with its fields counts only once it is known that
    /// there is such an upload and that it is still open (§3.2).
    case data(Result<DataRequest, UploadError>)
    case head
    case get
    case options
    case delete

    /// Evaluated in the order of §2; the first match wins.
    init(_ request: Request) throws(UploadAction.Refusal) {
        if request.method == .options {
            self = .options
            return
        }
        if UploadAction.speaksOtherProtocol(request) { throw .error(.otherProtocol) }
        switch request.method {
        case .put: self = .data(UploadAction.data(request))
        case .post where request.fields.contains("Content-Range"):
            self = .data(UploadAction.data(request))
        case .head: self = .head
        case .get: self = .get
        case .delete: self = .delete
        default: throw .method
        }
    }

    /// Why a head names no action.
    enum Refusal: Error, Equatable {
        case error(UploadError)
        case method
    }

    /// tus and the IETF protocol come with an issue of their own. Until then their requests are
    /// refused whole, because half an implementation would lose a client's bytes.
    private static func speaksOtherProtocol(_ request: Request) -> Bool {
        let fields = request.fields
        if fields.contains("Tus-Resumable") { return true }
        if let version = fields["Upload-Draft-Interop-Version"], Int64(decimal: version.utf8) != nil
        {
            return true
        }
        let writes = [.post, .put, .patch].contains(request.method)
        if writes, let value = fields["Upload-Complete"], value == "?0" || value == "?1" {
            return true
        }
        guard request.method == .patch, let type = fields["Content-Type"] else { return false }
        let essence = MediaType(untrusted: type).essence
        return essence == "application/partial-upload"
            || essence == "application/offset+octet-stream"
    }

    private static func data(_ request: Request) -> Result<DataRequest, UploadError> {
        do throws(UploadError) {
            return .success(try DataRequest(request))
        } catch {
            return .failure(error)
        }
    }
}
