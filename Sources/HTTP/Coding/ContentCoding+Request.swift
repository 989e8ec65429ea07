extension ContentCoding {
    /// Why a coded request is not read: 415 with ``ContentCoding/accepted`` (H117).
    public struct Unsupported: Error, Equatable, Sendable {
        /// The one such error.
        public init() {}
    }

    /// What the content of a request is coded in; `nil` for nothing.
    ///
    /// Several codings are refused like an unknown one. Without content there is nothing coded,
    /// whatever the field says.
    public static func of(_ request: Request) throws(Unsupported) -> ContentCoding? {
        guard request.framing.announcesContent,
            let text = request.fields.joined("Content-Encoding")
        else { return nil }
        guard let names = FieldList.elements(of: text), names.count <= 1 else {
            throw Unsupported()
        }
        guard let name = names.first, name.lowercased() != "identity" else { return nil }
        guard let coding = ContentCoding(name: name) else { throw Unsupported() }
        return coding
    }
}
