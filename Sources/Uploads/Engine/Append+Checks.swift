extension Append {
    /// The checks that need the head alone (§4.1, steps 4 and 6; §5.2).
    func check(
        against record: UploadRecord, limit maxSize: Int64
    ) throws(UploadError) {
        if let totalFault { throw totalFault }
        if let total {
            if let length = record.length, length != total {
                throw .differs(from: length)
            }
            if total < record.offset {

                throw .lengthMismatch(
                    "The stated length is below the \(record.offset) bytes that are held; state the length of the whole content."
                )

            }
            if total > maxSize { throw .tooLarge(limit: maxSize) }
        }
        try checkStatedRange(record.offset)
        let length = record.length ?? total
        let stop = last.map { $0 + 1 } ?? bodyLength.flatMap { first.adding($0) }
        if let stop {
            if stop > length ?? .max {
                throw .beyondLength
            }
            if stop > maxSize { throw .tooLarge(limit: maxSize) }
        } else if bodyLength != nil {
            throw .tooLarge(limit: maxSize)
        }
    }

    private func checkStatedRange(_ offset: Int64) throws(UploadError) {
        guard let last, let bodyLength, bodyLength != last - first + 1 else { return }
        // An empty body for bytes that are held already is a pure overlap.
        if bodyLength == 0 && last < offset { return }
        throw .invalid(
            "Content-Length must be the number of bytes that Content-Range names; correct one of them."
        )
    }

    /// Where taking bytes stops, and which rule a byte beyond it breaks.
    func border(_ record: UploadRecord, limit maxSize: Int64) -> (Int64, UploadError) {
        let length = record.length ?? total
        if let last, last < (length ?? .max) - 1 {
            return (
                last + 1,
                .lengthMismatch(
                    "The body is longer than Content-Range states; send the rest in another request."
                )
            )
        }
        guard let length else { return (maxSize, .tooLarge(limit: maxSize)) }
        return (length, .beyondLength)
    }
}

extension UploadError {
    /// A length that is not the one the upload has.
    static func differs(from length: Int64) -> UploadError {
        .lengthMismatch(
            "The upload has a length of \(length) bytes, and the request states another one in Content-Range, Content-Length or Upload-Length; state the same length, or none."
        )
    }
}

extension Int64 {
    fileprivate func adding(_ other: Int64) -> Int64? {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? nil : sum
    }
}
