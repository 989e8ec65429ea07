/// `<Error>`: what a store says when it does not do what was asked; in a 200 too (§10.3).
struct ErrorDocument: Equatable {
    /// Such as `NoSuchKey`.
    var code = ""
    /// A sentence of the store's own.
    var message = ""
    /// Where the bucket is, when a request came to another region.
    var region: String?

    /// `nil` for a document of another kind, also one that is none: a proxy's page.
    init?(_ octets: [UInt8]) {
        // A faulty document says nothing, and the status decides.
        guard let read = try? Self.read(octets), !read.code.isEmpty else { return nil }
        self = read
    }

    private init() {}

    private static func read(_ octets: [UInt8]) throws(XMLFault) -> ErrorDocument? {
        var reader = try XMLReader(octets)
        guard try reader.root() == "Error" else { return nil }
        var error = ErrorDocument()
        while let name = try reader.child() {
            switch name {
            case "Code": error.code = try reader.text()
            case "Message": error.message = try reader.text()
            case "Region": error.region = try reader.text()
            default: try reader.pass()
            }
        }
        try reader.finish()
        return error
    }
}
