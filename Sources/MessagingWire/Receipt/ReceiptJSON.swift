public import JSON
public import Messaging

/// The body of `POST …/receipts` (client-api: receipts).
public enum ReceiptJSON {
    /// Reads what the receipt says.
    ///
    /// - Parameter body: An object; members it does not know are ignored.
    public static func read(_ body: JSONValue) throws(Rejection) -> Receipts.Kind {
        guard let type = body.present("type") else { throw .missing("type") }
        guard let kind = type.string.flatMap(Receipts.Kind.init(rawValue:)) else {
            throw .invalid("type", .receiptType, .init(text: type.string))
        }
        return kind
    }
}
