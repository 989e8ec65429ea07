/// Reads fields that are lists (RFC 9110 §5.6.1).
public enum FieldList {
    /// The elements between commas, without the blanks around them and without empty ones.
    ///
    /// A comma inside a quoted string does not split. `nil` for more than 16 empty elements, more
    /// than 256 in all, or a quoted string without an end (H30, H57).
    public static func elements(of text: String) -> [Substring]? {
        guard let raw = pieces(of: Substring(text), at: UInt8(ascii: ",")) else { return nil }
        let all = raw.map(\.trimmed)
        let elements = all.filter { element in !element.isEmpty }
        guard all.count <= 256, all.count - elements.count <= 16 else { return nil }
        return elements
    }

    /// What stands between separators outside of quoted strings; `nil` for a quoted string without an
    /// end.
    static func pieces(of text: Substring, at separator: UInt8) -> [Substring]? {
        var isQuoted = false
        var isEscaped = false
        let pieces = text.utf8.split(omittingEmptySubsequences: false) { octet in
            if isEscaped {
                isEscaped = false
            } else if isQuoted && octet == UInt8(ascii: "\\") {
                isEscaped = true
            } else if octet == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
            return octet == separator && !isQuoted
        }
        return isQuoted ? nil : pieces.map { piece in Substring(piece) }
    }
}
