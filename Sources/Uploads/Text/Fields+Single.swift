internal import HTTP

extension Fields {
    /// The value of a field that may come once (§3.1).
    func single(_ name: FieldName) throws(UploadError) -> String? {
        guard occurrences(of: name) <= 1 else {
            throw .invalid("\(name) may be sent once only.")
        }
        return self[name]
    }

    /// An offset or a length: digits alone, once (§0).
    func number(_ name: FieldName) throws(UploadError) -> Int64? {
        guard let text = try single(name) else { return nil }
        guard let number = Int64(decimal: text.utf8) else {
            throw .invalid("\(name) is not a plain number.")
        }
        return number
    }
}
