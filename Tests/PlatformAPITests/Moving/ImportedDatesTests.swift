import TestSupport
import Testing

/// Dates of an import at the ends of what can be written, and beyond.
@Suite struct `Dates of an import` {
    private static let dates = [
        "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z",
        "0000-12-31T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
        "10000-01-01T00:00:00Z", "292277026596-12-04T15:30:08Z", "2026-02-30T00:00:00Z",
    ]

    /// The whole sample with every date replaced, then some of them at random.
    @Test(arguments: dates, 0...4)
    func `no date stops the server, and what it takes is exported and imported again (X10)`(
        date: String, number: Int
    ) async throws {
        var dice = Generator(UInt64(number))
        let scene = try await Scene.make(version: "3.0")
        let lines = SampleImport(scene).lines.map { line in
            line.replacing(/"[0-9]{4}-[0-9]{2}-[0-9]{2}T[^"]*"/) { match in
                number == 0 || dice.once(in: 3) ? "\"\(date)\"" : String(match.0)
            }
        }
        let answer = try await scene.bring(Array(lines.joined(separator: "\n").utf8))
        let comment: Comment = "\(date), \(number)"
        #expect([200, 422].contains(answer.status), "\(comment): \(answer)")
        let export = try await scene.readEverything(comment)
        let again = try await scene.bring(Array(export.utf8))
        #expect(again.status == 200, "\(comment): \(again)")
        #expect(again.body.contains(#""changed":false"#), "\(comment): \(again)")
    }
}
