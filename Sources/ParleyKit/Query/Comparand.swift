internal import SQL

/// How the database compares a property.
///
/// A comparison is true or false and never unknown: a missing value differs from every other one, and is neither lower
/// nor higher than one. So `!` finds exactly the other rows.
public struct Comparand<Element: Queryable, Value: Sendable>: Sendable {
    /// What is compared.
    let expression: SQL
    /// The value to bind; `.null` for a missing one.
    let bound: @Sendable (Value) -> SQLValue
    /// Whether there is a value; `nil` if there always is one.
    var presence: SQL?
    /// Whether values are 0 and 1. They stand in the text of a statement, so that indexes of these rows are used.
    var isFlag = false
    /// Whether very many rows may have one value. SQLite, which keeps no statistics here, would otherwise prefer their index to
    /// that of any other condition.
    var isCommon = false
    /// A column with an index that is equal wherever the expression is.
    var lead: Lead?
    /// The conversation that a value names. A former id stands for the conversation that remains (K24).
    var conversation: (@Sendable (Value) -> Conversation.ID?)?
    /// Whether the expression is one of a part of the message.
    var isOfParts = false
    /// Comparisons that are true of few rows only, which an index finds.
    var rare: Rare?
    /// Why the column cannot be used.
    var invalid: ParleyError?

    /// See ``Comparand/lead``.
    struct Lead: Sendable {
        let expression: SQL
        let bound: @Sendable (Value) -> SQLValue
    }

    /// See ``Comparand/rare``.
    struct Rare: Sendable {
        /// The condition of the index: true wherever such a comparison is.
        let condition: SQL
        /// Whether a comparison with a value is one of them.
        let includes: @Sendable (Comparison, Value) -> Bool
    }

    func compares(_ comparison: Comparison, _ value: Value) -> Filter<Element> {
        let fixed = comparison == .equal ? conversation?(value) : nil
        let isRare = rare?.includes(comparison, value) ?? false
        return filter(fixing: fixed, isRare: isRare) { context in
            switch comparison {
            case .equal: try equals(value, context)
            case .notEqual: "NOT (\(try equals(value, context)))"
            default: present("\(expression) \(raw: comparison.symbol) \(literal(bound(value)))")
            }
        }
    }

    func isIn(_ values: [Value], isNegated: Bool = false) -> Filter<Element> {
        let fixed = values.count == 1 && !isNegated ? conversation?(values[0]) : nil
        let isRare =
            rare.map { rare in
                !isNegated && values.allSatisfy { value in rare.includes(.equal, value) }
            } ?? false
        return filter(fixing: fixed, isRare: isRare) { context in
            let isOne = try isOne(of: values, context)
            return isNegated ? "NOT (\(isOne))" : isOne
        }
    }

    func isLike(_ pattern: String) -> Filter<Element> {
        filter { _ in present("\(expression) LIKE \(pattern)") }
    }

    private func filter(
        fixing conversation: Conversation.ID? = nil, isRare: Bool = false,
        _ test: @escaping @Sendable (QueryContext) throws -> SQL
    ) -> Filter<Element> {
        Filter(
            .test(fixing: conversation) { context in
                if let invalid { throw invalid }
                var test = try test(context)
                if isRare, let rare { test = "\(rare.condition) AND (\(test))" }
                guard isOfParts else { return test }
                return isRare
                    ? "m.id IN (SELECT p.message FROM parts p WHERE \(test))"
                    : "EXISTS (SELECT 1 FROM parts p WHERE p.message = m.id AND (\(test)))"
            })
    }

    private func equals(_ value: Value, _ context: QueryContext) throws -> SQL {
        let bound = try current(value, context)
        if bound == .null { return missing }
        let isEqual: SQL = "\(expression) = \(literal(bound))"
        let test = present(isCommon ? "likelihood(\(isEqual), 0.1)" : isEqual)
        guard let lead else { return test }
        return "\(lead.expression) = \(lead.bound(value)) AND \(test)"
    }

    private func isOne(of values: [Value], _ context: QueryContext) throws -> SQL {
        let bound = try values.map { value in try current(value, context) }
        let there = bound.filter { value in value != .null }
        let test = present("\(expression) \(in: SQLArray(there))")
        if there.count < bound.count { return "\(missing) OR \(test)" }
        guard let lead else { return test }
        return "\(lead.expression) \(in: SQLArray(values.map(lead.bound))) AND \(test)"
    }

    private func current(_ value: Value, _ context: QueryContext) throws -> SQLValue {
        guard let conversation = conversation?(value) else { return bound(value) }
        return try context.transaction.currentID(of: conversation).bytes.sqlValue
    }

    /// The test, false where there is no value.
    private func present(_ test: SQL) -> SQL {
        guard let presence else { return test }
        return "(\(presence) AND \(test))"
    }

    private var missing: SQL {
        guard let presence else { return "0" }
        return "NOT (\(presence))"
    }

    private func literal(_ value: SQLValue) -> SQL {
        guard isFlag else { return "\(value)" }
        return value == .integer(1) ? "1" : "0"
    }
}

/// How two values are compared.
enum Comparison: Sendable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// Whether the comparison of two values is true.
    func isTrue<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        }
    }

    var symbol: StaticString {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}

extension SQLArray {
    /// The values of one column, so of one type.
    fileprivate init(_ values: [SQLValue]) {
        var (integers, texts, blobs): ([Int64], [String], [[UInt8]]) = ([], [], [])
        for value in values {
            switch value {
            case .integer(let integer): integers.append(integer)
            case .text(let text): texts.append(text)
            case .blob(let bytes): blobs.append(bytes)
            case .null, .array: break
            }
        }
        self = !texts.isEmpty ? .texts(texts) : !blobs.isEmpty ? .blobs(blobs) : .integers(integers)
    }
}
