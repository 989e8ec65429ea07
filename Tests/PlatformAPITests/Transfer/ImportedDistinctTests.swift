import Testing

/// Imported distinct conversations of participants that already have one (X1, ruling 26).
@Suite struct `Imported distinct conversations` {
    private static let times = [#""2020-01-01T00:00:00Z""#, #""9998-01-01T00:00:00Z""#]

    @Test(arguments: times, [0, 1])
    func `are never two of one set, wherever an import stops, and keep their statuses`(
        createdAt: String, joinedAfter: Int
    ) async throws {
        let whole = try await Self.lines(
            SampleApplication.make(version: "3.0"), createdAt, joinedAfter
        ).count
        for count in 2...whole {
            let sample = try await SampleApplication.make(version: "3.0")
            let lines = try Self.lines(sample, createdAt, joinedAfter)
            let own = try await Self.create(in: sample)
            // The next line is not JSON: the lines before it are kept.
            let cut = Array(lines.prefix(count)) + ["{"]
            let stopped = try await sample.importLines(Array(cut.joined(separator: "\n").utf8))
            #expect(stopped.status == 400, "\(stopped)")
            try await Self.expectOne(in: sample, "\(count) lines")
            let rest = try await sample.importLines(Array(lines.joined(separator: "\n").utf8))
            #expect(rest.status == 200, "\(rest)")
            // The conversation is on the third line from the start.
            #expect(rest.body.contains(#""merged":\#(count > 3 ? 0 : 1)"#), "\(count): \(rest)")
            try await Self.expectOne(in: sample, "all lines after \(count)")
            try await Self.expectStatuses(in: sample, own, joinedAfter)
            let again = try await sample.importLines(Array(lines.joined(separator: "\n").utf8))
            #expect(again.body.contains(#""changed":false"#), "\(again)")
            try await sample.readEverything("\(count) lines")
        }
    }

    @Test func `are merged when a file has two of one set`() async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let archive = SampleImport(sample)
        let members = [
            #""user_id":"ana","place":0,"joined_after":0,"state":"shown","cleared_to":0"#,
            #""user_id":"bo","place":1,"joined_after":0,"state":"shown","cleared_to":0"#,
        ]
        let lines =
            Array(archive.lines.prefix(3)) + [
                archive.conversation(1, isDistinct: true, last: 1, members),
                archive.message(11, in: 1, at: 1, "ana"),
                archive.conversation(2, isDistinct: true, last: 1, members),
                archive.message(12, in: 2, at: 1, "bo"),
            ]
        let answer = try await sample.importLines(Array(lines.joined(separator: "\n").utf8))
        #expect(answer.body.contains(#""merged":1"#), "\(answer)")
        try await Self.expectOne(in: sample, "two of one set")
        for id in [archive.id(1), archive.id(2)] {
            let list = try await sample.send(
                "GET", "/apps/{app}/conversations/\(id)/messages", by: sample.client)
            #expect(list["Layer-Count"] == "2")
        }
    }

    private static func lines(
        _ sample: SampleApplication, _ createdAt: String, _ joinedAfter: Int
    ) throws -> [String] {
        let archive = SampleImport(sample)
        return Array(archive.lines.prefix(3)) + [
            archive.conversation(
                1, isDistinct: true, last: 5,
                [
                    """
                    "user_id":"ana","place":0,"joined_after":\(joinedAfter),"state":"shown",\
                    "cleared_to":0,"hidden":"5","delivered":"2,4","read":"2"
                    """,
                    """
                    "user_id":"bo","place":1,"joined_after":\(joinedAfter),"state":"shown",\
                    "cleared_to":0
                    """,
                ], createdAt: createdAt),
            archive.message(11, in: 1, at: 1, "ana", sentAt: #""2021-01-01T00:00:00Z""#),
            archive.message(12, in: 1, at: 2, "bo", sentAt: #""2021-01-01T00:00:00Z""#),
            archive.message(13, in: 1, at: 4, "bo", sentAt: #""9997-01-01T00:00:00Z""#),
            archive.message(14, in: 1, at: 5, "bo", sentAt: #""9997-01-01T00:00:00Z""#),
        ]
    }

    /// Creates the existing conversation, with two messages.
    private static func create(in sample: SampleApplication) async throws -> String {
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"],"distinct":true}"#,
            by: sample.client)
        let id = try #require(made["Location"]?.split(separator: "/").last).description
        for text in ["here 1", "here 2"] {
            let sent = try await sample.send(
                "POST", "/apps/{app}/conversations/\(id)/messages",
                #"{"sender_id":"ana","parts":[{"mime_type":"text/plain","body":"\#(text)"}]}"#,
                by: sample.client)
            #expect(sent.status == 201, "\(sent)")
        }
        return id
    }

    private static func expectOne(in sample: SampleApplication, _ comment: Comment) async throws {
        let counts = try await sample.distinctCounts()
        #expect(counts.allSatisfy { $0.value == 1 }, "\(comment): \(counts)")
    }

    private static func expectStatuses(
        in sample: SampleApplication, _ own: String, _ joinedAfter: Int
    ) async throws {
        let archive = SampleImport(sample)
        func status(_ number: Int, of user: String) async throws -> String? {
            let answer = try await sample.send(
                "GET", "/apps/{app}/messages/\(archive.id(number))", by: sample.client)
            #expect(answer.status == 200, "\(answer)")
            return answer.body.firstMatch(of: try Regex(#"\#(user)":"([a-z]+)""#))?[1].substring
                .map(String.init)
        }
        #expect(try await status(12, of: "ana") == "read")
        #expect(try await status(13, of: "ana") == "delivered")
        #expect(try await status(14, of: "ana") == "sent")
        #expect(try await status(11, of: "bo") == (joinedAfter > 0 ? "read" : "sent"))
        for (number, expected) in [(12, 200), (13, 200), (14, 404)] {
            let seen = try await sample.send(
                "GET", "/apps/{app}/users/ana/messages/\(archive.id(number))", by: sample.client)
            #expect(seen.status == expected, "\(number): \(seen)")
        }
        let list = try await sample.send(
            "GET", "/apps/{app}/conversations/\(own)/messages", by: sample.client)
        let texts = list.body.matches(of: /"body":"([^"]*)"/).map { String($0.1) }
        // Newest first; messages of one time are ordered by id.
        #expect(Array(texts.suffix(4)) == ["here 2", "here 1", "m12", "m11"], "\(texts)")
        #expect(Array(texts.prefix(2)) == ["m14", "m13"], "\(texts)")
    }
}
