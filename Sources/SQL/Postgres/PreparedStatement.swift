import CPostgres

/// A statement the server has prepared for one connection.
final class PreparedStatement {
    let name: String
    let phrase: Phrase
    let text: String
    /// The types of its values; 0 where only the server knows, because all were `NULL` so far.
    let types: [Oid]
    /// The names of its columns, once it has been run.
    var columns: [String]?
    fileprivate(set) var lastUse: UInt64 = 0

    init(name: String, phrase: Phrase, types: [Oid]) {
        self.name = name
        self.phrase = phrase
        text = phrase.text
        self.types = types
    }
}

/// The statements of one connection by what they say.
struct PreparedStatements {
    /// Kept at once; the least recently used one goes first.
    static let limit = 256

    private var byPhrase: [Phrase: PreparedStatement] = [:]
    private var uses: UInt64 = 0

    /// How many there are.
    var count: Int { byPhrase.count }

    /// The one that says this, when it takes values of these types.
    mutating func use(_ phrase: Phrase, _ types: [Oid]) -> PreparedStatement? {
        guard let statement = byPhrase[phrase], statement.types.count == types.count,
            zip(types, statement.types).allSatisfy({ new, old in new == 0 || new == old })
        else { return nil }
        uses += 1
        statement.lastUse = uses
        return statement
    }

    /// A new one, and the names of those that go for it.
    mutating func make(_ phrase: Phrase, _ types: [Oid]) -> (PreparedStatement, gone: [String]) {
        var gone: [String] = []
        var types = types
        if let former = byPhrase.removeValue(forKey: phrase) {
            gone.append(former.name)
            if former.types.count == types.count {
                types = zip(types, former.types).map { new, old in new == 0 ? old : new }
            }
        }
        if byPhrase.count >= Self.limit,
            let oldest = byPhrase.values.min(by: { $0.lastUse < $1.lastUse })
        {
            byPhrase[oldest.phrase] = nil
            gone.append(oldest.name)
        }
        uses += 1
        let statement = PreparedStatement(name: "s\(uses)", phrase: phrase, types: types)
        statement.lastUse = uses
        byPhrase[phrase] = statement
        return (statement, gone)
    }

    /// Lets go of one the server does not have or cannot run any more; its name is not used again.
    mutating func forget(_ statement: PreparedStatement) {
        if byPhrase[statement.phrase] === statement { byPhrase[statement.phrase] = nil }
    }
}
