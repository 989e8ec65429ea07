/// Reads fields that are lists (RFC 9110 §5.6.1).
public enum FieldList {
    /// The elements between commas, without the blanks around them and without empty ones.
    ///
    /// A comma inside a quoted string does not split. `nil` for more than 16 empty elements, more
    /// than 256 in all, or a quoted string without an end (H30, H57).
    public static func elements(of text: String) -> [Substring]? {
        var isQuoted = false
        var isEscaped = false
        let raw = text.utf8.split(omittingEmptySubsequences: false) { octet in
            if isEscaped {
                isEscaped = false
            } else if isQuoted && octet == UInt8(ascii: "\\") {
                isEscaped = true
            } else if octet == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
            return octet == UInt8(ascii: ",") && !isQuoted
        }
        let all = raw.map { element in Substring(element).trimmed }
        let elements = all.filter { element in !element.isEmpty }
        guard !isQuoted, all.count <= 256, all.count - elements.count <= 16 else { return nil }
        return elements
    }
}
