import HTTP
import MessagingWire

/// The media type of lines that are JSON objects (X10).
enum LinesType {
    /// The name exports come under; not registered, and what everybody says.
    static let name = "application/jsonl"

    /// Passes lines under one of their names, and a body without a type.
    ///
    /// - Throws: 415.
    static func require(_ request: Request) throws(APIError) {
        guard let text = request.fields["Content-Type"] else { return }
        let type = text.prefix { character in character != ";" }
            .filter { character in character != " " && character != "\t" }.lowercased()
        guard [name, "application/x-ndjson", "application/jsonlines"].contains(type) else {
            throw APIError(
                .invalidHeader, "Invalid Content-Type header; must be \(name)",
                data: .header("Content-Type"), status: 415)
        }
    }
}
