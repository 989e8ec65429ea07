extension StoredAnswer {
    /// The SHA-256 its tag is made of; `nil` when it is not.
    var sha256: [UInt8]? {
        let digits = etag.utf8.compactMap { octet -> UInt8? in
            switch octet {
            case 0x30...0x39: octet - 0x30
            case 0x61...0x66: octet - 0x57
            default: nil
            }
        }
        guard digits.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
