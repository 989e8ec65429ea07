internal import SQL

/// A type that queries find: conversations, messages, parts and identities.
///
/// A type of an application cannot conform to it, because only this module can make ``rows``.
public protocol Queryable: Identifiable, Sendable, Equatable where ID: Hashable & Sendable {
    /// The columns of the type.
    associatedtype Columns: Sendable

    /// The columns that filters, sorts and sections name.
    static var columns: Columns { get }

    /// The order of a query that gives none.
    static func naturalOrder(_ columns: Columns) -> [Sort<Self>]

    /// Where the store has the values.
    static var rows: StoredRows<Self> { get }
}

/// Where and how the store has the values of a type.
public struct StoredRows<Element: Queryable>: Sendable {
    /// The tables, after `FROM`.
    let source: SQL
    /// Which rows are shown at all.
    let isShown: SQL
    /// The same for rows of one conversation, given its current id: a test of the conversation, made once.
    var isShownInConversation: (@Sendable (Conversation.ID) -> SQL)?
    /// Selects the `number` of shown rows of a conversation, given its current id, without counting them.
    var countInConversation: (@Sendable (Conversation.ID) -> SQL)?
    /// The columns that ``readID`` reads.
    let idColumns: SQL
    /// Reads the id of a row.
    let readID: @Sendable (borrowing Row) throws -> Element.ID
    /// Columns that together differ in any two rows; they end every order.
    let tieBreaks: [SQL]
    /// What changes values of the type.
    let tables: Set<Store.Table>
    /// Reads the values of ids, in their order, without those that do not exist.
    let read: @Sendable (inout ObjectReader, [Element.ID]) throws -> [Element]
    /// Whether two values differ in a property, by its name.
    let differences: [String: @Sendable (Element, Element) -> Bool]
    /// The metadata of a value, whose paths are properties too.
    var metadata: (@Sendable (Element) -> Metadata)?
    /// The position of a message in its conversation.
    var position: (@Sendable (Element) -> Int64?)?

    /// Whether two values differ in one of the properties.
    ///
    /// - Parameter properties: Names as in ``ObjectChange/Kind/updated(property:)``; `nil` for all.
    func differ(_ old: Element, _ new: Element, in properties: Set<String>?) -> Bool {
        guard old != new else { return false }
        guard let properties else { return true }
        return properties.contains { name in
            if let differs = differences[name] { return differs(old, new) }
            guard let metadata, name.hasPrefix("metadata.") else { return false }
            let path = MetadataPath(stringLiteral: String(name.dropFirst("metadata.".count)))
            return metadata(old)[path] != metadata(new)[path]
        }
    }
}
