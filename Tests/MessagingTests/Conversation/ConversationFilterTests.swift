import Messaging
import Testing

@Suite struct `Filters of conversations` {
    private func passes(
        _ users: [String] = ["ana", "bo"], isDistinct: Bool = false,
        metadata: MetadataTree = .empty, at time: Int64 = 1000,
        _ make: (inout ConversationFilter) -> Void
    ) -> Bool {
        var filter = ConversationFilter()
        make(&filter)
        let present = users.compactMap { UserID($0) }
        let named = Set(filter.participants).filter(present.contains)
        return filter.admits(
            named.count, of: users.count, isDistinct: isDistinct,
            metadata: metadata, createdAt: Timestamp(milliseconds: time))
    }

    private func users(_ names: String...) -> [UserID] { names.compactMap { UserID($0) } }

    @Test func `without conditions match everything (X9)`() {
        #expect(ConversationFilter().isEmpty)
        #expect(passes { _ in })
        #expect(passes([]) { _ in })
    }

    @Test func `match conversations with given participants, or exactly those (X9)`() {
        #expect(passes { $0.participants = users("bo") })
        #expect(passes { $0.participants = users("bo", "ana", "bo") })
        #expect(!passes { $0.participants = users("bo", "cy") })
        #expect(!passes([]) { $0.participants = users("bo") })
        #expect(!passes { ($0.participants, $0.isExact) = (users("bo"), true) })
        #expect(passes { ($0.participants, $0.isExact) = (users("bo", "ana", "bo"), true) })
        // Byte by byte (ruling 7).
        #expect(!passes(["\u{E9}"]) { $0.participants = users("e\u{301}") })
    }

    @Test func `select distinct conversations or others (X9)`() {
        #expect(passes(isDistinct: true) { $0.isDistinct = true })
        #expect(!passes(isDistinct: false) { $0.isDistinct = true })
        #expect(passes(isDistinct: false) { $0.isDistinct = false })
    }

    @Test func `compare a text at a path of the metadata (X9)`() {
        let tree: MetadataTree = ["room": ["number": "4", "n": ["m": "x"]], "topic": "rent"]
        let condition = ConversationFilter.MetadataCondition.init
        #expect(passes(metadata: tree) { $0.metadata = [condition(["topic"], "rent")] })
        #expect(passes(metadata: tree) { $0.metadata = [condition(["room", "n", "m"], "x")] })
        #expect(!passes(metadata: tree) { $0.metadata = [condition(["topic"], "Rent")] })
        #expect(!passes(metadata: tree) { $0.metadata = [condition(["room"], "4")] })
        #expect(!passes(metadata: tree) { $0.metadata = [condition(["topic", "x"], "rent")] })
        #expect(!passes(metadata: tree) { $0.metadata = [condition(["nothing"], "")] })
        #expect(
            !passes(metadata: tree) {
                $0.metadata = [condition(["topic"], "rent"), condition(["room", "number"], "5")]
            })
    }

    @Test func `exclude their own limits of time (X9)`() {
        let (before, at, later) = (
            Timestamp(milliseconds: 999), Timestamp(milliseconds: 1000),
            Timestamp(milliseconds: 1001)
        )
        #expect(passes { $0.createdAfter = before })
        #expect(!passes { $0.createdAfter = at })
        #expect(passes { $0.createdBefore = later })
        #expect(!passes { $0.createdBefore = at })
    }
}
