internal import HTTP

/// A `PATCH` as tus has it, read from its head (§6.5).
struct TusAppend: Sendable {
    /// Where the client says its bytes belong.
    let offset: Int64
    /// What is wrong with the checksum, after the kind of the upload.
    private let checksum: Result<TusChecksum, UploadError>
    /// What is wrong with the length, after the offset.
    private let length: Result<Int64?, UploadError>
    private let bodyLength: Int64?

    /// Reads the head; media type and offset are checked first, in this order.
    init(_ request: Request) throws(UploadError) {
        let fields = request.fields
        try request.requirePlainBody()
        guard TusProtocol.isData(fields) else { throw .wrongMediaType }
        guard let offset = try fields.number("Upload-Offset") else {
            throw .invalid(
                "Upload-Offset is missing; send the offset of the first byte of the body, which HEAD reports."
            )
        }
        self.offset = offset
        checksum = Result { () throws(UploadError) in try TusChecksum(request) }
        length = Result { () throws(UploadError) in try fields.number("Upload-Length") }
        bodyLength = request.framing.bodyLength
    }

    /// In the engine's words.
    func append() throws(UploadError) -> Append {
        var append = Append(
            rule: .exact, first: offset, bodyLength: bodyLength, end: .atLength)
        try checksum.get().add(to: &append)
        switch length {
        case .success(let total): append.total = total
        case .failure(let fault): append.totalFault = fault
        }
        return append
    }
}
