import Testing

@Suite struct `Numbers of an import` {
    @Test func `the sample is imported whole and exported as it is`() async throws {
        let scene = try await Scene.make(version: "3.0")
        let sample = SampleImport(scene)
        let answer = try await scene.bring(Array(sample.lines.joined(separator: "\n").utf8))
        #expect(answer.status == 200, "\(answer)")
        try await scene.readEverything("sample")
    }

    /// Each member of one line that is a number, or a set of positions.
    @Test(arguments: 0..<18, SampleImport.values)
    func
        `no number of a line stops the server, and one too high is refused by its name (ruling 25)`(
            line: Int, value: Int64
        ) async throws
    {
        let sample = SampleImport(try await Scene.make())
        let count = sample.lines[line].matches(of: Self.number).count
        for place in 0..<count { try await drive(line, place, value) }
    }

    @Test(arguments: ["past", "hidden", "delivered", "read"])
    func `positions end below 2^36 (ruling 25)`(member: String) async throws {
        for value in SampleImport.values where value > 0 {
            let scene = try await Scene.make(version: "3.0")
            let sample = SampleImport(scene)
            let lines = sample.lines.map { line in
                line.replacing(
                    try! Regex(#""\#(member)":"[0-9-]+""#), with: #""\#(member)":"1-\#(value)""#)
            }
            let answer = try await scene.bring(Array(lines.joined(separator: "\n").utf8))
            #expect([200, 422].contains(answer.status), "\(member) 1-\(value): \(answer)")
            if value >= 1 << 36 {
                #expect(answer.status == 422)
                #expect(answer.body.contains("participants.\(member) must be"), "\(answer)")
            }
            try await scene.readEverything("\(member) 1-\(value)")
        }
    }

    private static var number: Regex<(Substring, Substring, Substring)> {
        /"([a-z_0-9]+)":(-?[0-9]+)(?![0-9])/
    }

    private func drive(_ line: Int, _ place: Int, _ value: Int64) async throws {
        let scene = try await Scene.make(version: "3.0")
        var lines = SampleImport(scene).lines
        let match = lines[line].matches(of: Self.number)[place]
        let member = String(match.1)
        lines[line].replaceSubrange(match.2.startIndex..<match.2.endIndex, with: "\(value)")
        let answer = try await scene.bring(Array(lines.joined(separator: "\n").utf8))
        let comment: Comment = "line \(line + 1), \(member) \(value)"
        #expect([200, 422].contains(answer.status), "\(comment): \(answer)")
        let isSize = ["size", "at"].contains(member)
        if value < 0 || value >= (isSize ? 1 << 53 : 1 << 36) {
            #expect(answer.status == 422, "\(comment): \(answer)")
            #expect(answer.body.contains("Line \(line + 1): "), "\(comment): \(answer)")
            #expect(answer.body.contains(member), "\(comment): \(answer)")
        }
        try await scene.readEverything(comment)
    }
}
