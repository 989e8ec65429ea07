import Messaging
import MessagingWire

extension ConversationFilter {
    /// Reads the filters of a list of conversations (X9).
    ///
    /// - Throws: `invalid` with the name of a parameter that has a bad value.
    init(_ query: Query, _ version: APIVersion) throws(Rejection) {
        self.init()
        for text in query.values("participants") {
            for name in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let user = UserIDJSON.read(query: String(name), version) else {
                    throw .invalid("participants", .participantFilter)
                }
                participants.append(user)
            }
        }
        isExact = try query.truth("exact") ?? false
        guard !isExact || !participants.isEmpty else {
            throw .invalid("exact", .exactWithoutParticipants)
        }
        isDistinct = try query.truth("distinct")
        createdAfter = try query.time("created_after")
        createdBefore = try query.time("created_before")
        for (name, value) in query.all where name.hasPrefix(Self.metadataPrefix) {
            guard let path = MetadataPathJSON.read(name) else {
                throw .invalid(name, .metadataPath)
            }
            metadata.append(MetadataCondition(path: path, value: value))
        }
    }

    /// What the name of a filter by metadata begins with.
    static let metadataPrefix = "metadata."
}
