import Messaging
import MessagingWire

extension ConversationFilter {
    /// Reads the filters of a list of conversations (X9).
    ///
    /// - Parameter sorted: Whether the list knows `sort_by`.
    /// - Throws: `invalid` with the name of a parameter that has a bad value or is unknown.
    init(_ query: Query, _ version: APIVersion, sorted: Bool = false) throws(Rejection) {
        self.init()
        for text in query.values("participants") {
            for name in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let user = UserIDJSON.read(query: String(name), version) else {
                    throw .invalid("participants")
                }
                participants.append(user)
            }
        }
        isExact = try query.truth("exact") ?? false
        guard !isExact || !participants.isEmpty else { throw .invalid("exact") }
        isDistinct = try query.truth("distinct")
        createdAfter = try query.time("created_after")
        createdBefore = try query.time("created_before")
        for (name, value) in query.all where name.hasPrefix(Self.metadataPrefix) {
            guard let path = MetadataPathJSON.read(name) else { throw .invalid(name) }
            metadata.append(MetadataCondition(path: path, value: value))
        }
        let names = sorted ? Self.names.union(["sort_by"]) : Self.names
        try query.requireKnown(names) { name in name.hasPrefix(Self.metadataPrefix) }
    }

    private static let metadataPrefix = "metadata."
    private static let names = Query.pageNames.union([
        "participants", "exact", "distinct", "created_after", "created_before",
    ])
}
