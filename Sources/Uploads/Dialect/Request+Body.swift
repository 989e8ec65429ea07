internal import HTTP

extension Request {
    /// Bytes are stored as they come: none are decoded on the way (§3.1).
    func requirePlainBody() throws(UploadError) {
        let coding = Result { () throws(ContentCoding.Unsupported) in
            try ContentCoding.of(self)
        }
        guard case .success(nil) = coding else { throw .codedBody }
    }
}

extension BodyFraming {
    /// Bytes in the body; `nil` when chunked.
    var bodyLength: Int64? {
        switch self {
        case .none: 0
        case .length(let length): length
        case .chunked: nil
        }
    }
}
