internal import SQL

/// Which elements a query finds.
///
/// Comparisons of columns make filters, and `&&`, `||`, `!` combine them:
///
/// ```swift
/// Query<Message>(where: { $0.conversation == id && ($0.isUnread == true || $0.parts.mimeType.like("image/%")) })
/// ```
public struct Filter<Element: Queryable>: Sendable {
    let predicate: Predicate

    init(_ predicate: Predicate) { self.predicate = predicate }

    /// Finds all elements.
    public static var everything: Filter { Filter(.everything) }

    /// Finds what both find.
    public static func && (left: Filter, right: Filter) -> Filter {
        Filter(.and(left.predicate, right.predicate))
    }

    /// Finds what one of them or both find.
    public static func || (left: Filter, right: Filter) -> Filter {
        Filter(.or(left.predicate, right.predicate))
    }

    /// Finds all other elements.
    public static prefix func ! (filter: Filter) -> Filter { Filter(.not(filter.predicate)) }
}

/// A condition on a row. It becomes SQL when the query runs: former ids are then resolved, and the user is known.
indirect enum Predicate: Sendable {
    case everything
    /// A test that is true or false, never `NULL`.
    ///
    /// - Parameter fixing: The conversation, if it is true of exactly the rows of one.
    case test(fixing: Conversation.ID?, @Sendable (QueryContext) throws -> SQL)
    case and(Predicate, Predicate)
    case or(Predicate, Predicate)
    case not(Predicate)

    /// The condition as SQL.
    func sql(_ context: QueryContext) throws -> SQL {
        switch self {
        case .everything: "1"
        case .test(_, let test): "(\(try test(context)))"
        case .and(let left, let right): "(\(try left.sql(context)) AND \(try right.sql(context)))"
        case .or(let left, let right): "(\(try left.sql(context)) OR \(try right.sql(context)))"
        case .not(let other): "NOT \(try other.sql(context))"
        }
    }

    /// The conversation of all rows of which the condition is true, if there is only one.
    var fixedConversation: Conversation.ID? {
        switch self {
        case .everything, .not: nil
        case .test(let conversation, _): conversation
        case .and(let left, let right): left.fixedConversation ?? right.fixedConversation
        case .or(let left, let right):
            left.fixedConversation == right.fixedConversation ? left.fixedConversation : nil
        }
    }
}

extension Predicate {
    /// The conversation, if the condition is true of exactly the rows of one.
    var onlyConversation: Conversation.ID? {
        switch self {
        case .test(let conversation, _): conversation
        case .and(.everything, let other), .and(let other, .everything): other.onlyConversation
        case .everything, .and, .or, .not: nil
        }
    }
}

/// What a filter needs to become SQL.
struct QueryContext {
    let transaction: Transaction
    /// The user of the store; empty before the first session.
    let user: UserID
}
