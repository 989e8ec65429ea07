import Messaging
import SQL

extension MovedRecords {
    /// Contents by their ids.
    struct Contents {
        fileprivate let found: [Content.ID: MovedContent]

        /// The contents of some parts, each once, in the order of the parts.
        func of(_ bodies: [MessagePart.Body]) -> [MovedContent] {
            var told: Set<Content.ID> = []
            return bodies.compactMap { body in
                guard case .content(let id, _) = body, told.insert(id).inserted else { return nil }
                return found[id]
            }
        }
    }

    func contents(named bodies: [MessagePart.Body]) throws -> Contents {
        var ids: Set<Content.ID> = []
        for case .content(let id, _) in bodies { ids.insert(id) }
        let rows = try ids.sorted().powers(upTo: 64).flatMap { some in
            try contents("id IN (\(few: some.map(\.bytes)))")
        }
        return Contents(
            found: Dictionary(rows.map { moved in (moved.content.id, moved) }) { one, _ in one })
    }

    /// Contents that neither a message nor one that waits shows.
    func unusedContents(after last: MovedContent?) throws -> [MovedContent] {
        try contents(
            """
            use_count = 0 AND id > \(last?.content.id.bytes ?? [])
            ORDER BY id LIMIT \(Self.stretch)
            """)
    }

    private func contents(_ condition: SQL) throws -> [MovedContent] {
        try transaction.rows(
            """
            SELECT \(raw: Content.columns), uploader FROM contents
            WHERE application = \(application) AND \(condition)
            """
        ) { row in MovedContent(try Content(row), owner: try row.optionalUser(11)) }
    }
}
