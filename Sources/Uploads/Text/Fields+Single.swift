internal import HTTP

extension Fields {
    /// The value of a field that may come once (§3.1).
    func single(_ name: FieldName) throws(UploadError) -> String? {
        guard occurrences(of: name) <= 1 else {
            throw .repeated(name)
        }
        return self[name]
    }

    /// An offset or a length: digits alone, once (§0).
    func number(_ name: FieldName) throws(UploadError) -> Int64? {
        guard let text = try single(name) else { return nil }
        guard let number = Int64(decimal: text.utf8) else {
            throw .notDecimal(name.description)
        }
        return number
    }
}

extension UploadError {
    /// A header that may be sent once was repeated (§3.1).
    static func repeated(_ name: FieldName) -> UploadError {
        .invalid("\(name) must be sent at most once; remove the repeated header.")
    }

    /// What is no offset or length (§0).
    static func notDecimal(_ name: String) -> UploadError {
        .invalid("\(name) must be a number of bytes: 1 to 19 digits, at most \(Int64.max).")
    }
}
