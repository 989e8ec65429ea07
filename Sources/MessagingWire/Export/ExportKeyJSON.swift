public import JSON
public import Messaging

/// Body and answer of `…/export_security` (platform-api §5.12).
public enum ExportKeyJSON {
    /// The key as it was sent; whether it is one is not judged here.
    public static func read(_ body: JSONValue) throws(Rejection) -> String {
        guard let value = body.present("public_key") else { throw .missing("public_key") }
        guard let pem = value.string, pem.isStorable else {
            throw .invalid("public_key", .publicKey)
        }
        return pem
    }

    /// Writes the object.
    public static func write(_ key: ExportKey, into writer: inout JSONWriter) {
        writer.object { writer in writer.member("public_key", key.pem) }
    }
}
