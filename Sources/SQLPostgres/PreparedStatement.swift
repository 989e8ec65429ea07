import CPostgres
import SQL

/// A statement prepared on the server for one connection.
final class PreparedStatement {
    let name: String
    fileprivate let template: StatementTemplate
    let text: String
    /// The type OIDs of its parameters; 0 where all values were `NULL` so far, so that the server infers the
    /// type.
    let types: [Oid]
    /// The names of its columns; `nil` before its first run.
    var columns: [String]?
    fileprivate var lastUse: UInt64 = 0

    init(name: String, template: StatementTemplate, types: [Oid]) {
        self.name = name
        self.template = template
        text = template.text
        self.types = types
    }
}

/// The prepared statements of one connection by template.
struct PreparedStatements {
    /// The most statements; the least recently used one is evicted first.
    static let limit = 256

    private var byTemplate: [StatementTemplate: PreparedStatement] = [:]
    private var uses: UInt64 = 0

    /// The statement of a template, when it accepts parameters of these types.
    mutating func use(_ template: StatementTemplate, _ types: [Oid]) -> PreparedStatement? {
        guard let statement = byTemplate[template], statement.types.count == types.count,
            zip(types, statement.types).allSatisfy({ new, old in new == 0 || new == old })
        else { return nil }
        uses += 1
        statement.lastUse = uses
        return statement
    }

    /// A new statement, and the names of those evicted for it.
    mutating func make(_ template: StatementTemplate, _ types: [Oid]) -> (
        PreparedStatement, gone: [String]
    ) {
        var gone: [String] = []
        var types = types
        if let former = byTemplate.removeValue(forKey: template) {
            gone.append(former.name)
            if former.types.count == types.count {
                types = zip(types, former.types).map { new, old in new == 0 ? old : new }
            }
        }
        if byTemplate.count >= Self.limit,
            let oldest = byTemplate.values.min(by: { $0.lastUse < $1.lastUse })
        {
            byTemplate[oldest.template] = nil
            gone.append(oldest.name)
        }
        uses += 1
        let statement = PreparedStatement(name: "s\(uses)", template: template, types: types)
        statement.lastUse = uses
        byTemplate[template] = statement
        return (statement, gone)
    }

    /// Removes a statement that the server does not have or cannot run; its name is not used again.
    mutating func forget(_ statement: PreparedStatement) {
        if byTemplate[statement.template] === statement { byTemplate[statement.template] = nil }
    }
}
