import TestSupport
import Testing

/// Import files with errors.
@Suite struct `Mutated import files` {
    @Test(arguments: TestRounds.seeds(20, of: 60))
    func `whatever a file contains, all objects it made can be read`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed)
        let sample = try await SampleApplication.make(version: "3.0")
        if generator.below(2) == 0 {
            _ = try await sample.send(
                "POST", "/apps/{app}/conversations",
                #"{"participants":["ana","bo"],"distinct":true}"#, by: sample.client)
        }
        let file = Self.mutated(SampleImport(sample).lines, &generator)
        for _ in 1...2 {
            let answer = try await sample.importLines(file)
            #expect([200, 400, 422].contains(answer.status), "seed \(seed): \(answer)")
            let counts = try await sample.distinctCounts()
            #expect(counts.allSatisfy { $0.value == 1 }, "seed \(seed): \(counts)")
        }
        let export = try await sample.readEverything("seed \(seed)")
        let again = try await sample.importLines(Array(export.utf8))
        #expect(again.status == 200, "seed \(seed): \(again)")
        #expect(again.body.contains(#""changed":false"#), "seed \(seed): \(again)")
    }

    private static func mutated(_ whole: [String], _ generator: inout SeededGenerator) -> [UInt8] {
        var lines = whole.map { Array($0.utf8) }
        // Mostly keeps the first line, without which nothing is imported.
        let first = generator.below(10) == 0 ? 0 : 1
        for _ in 0...generator.below(4) where lines.count > first + 1 {
            let line = generator.number(first...lines.count - 1)
            switch generator.below(7) {
            case 0: lines.remove(at: line)
            case 1: lines.insert(lines[line], at: generator.number(first...lines.count))
            case 2: lines.swapAt(line, generator.number(first...lines.count - 1))
            case 3: lines[line].removeLast(generator.below(lines[line].count))
            case 4: lines[line][generator.below(lines[line].count)] = UInt8(generator.below(128))
            default: lines[line] = withAnotherNumber(lines[line], &generator)
            }
        }
        return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    private static func withAnotherNumber(
        _ line: [UInt8], _ generator: inout SeededGenerator
    ) -> [UInt8] {
        var text = String(decoding: line, as: UTF8.self)
        let numbers = text.matches(of: /[:"](-?[0-9]+)[,}"]/)
        guard !numbers.isEmpty else { return line }
        let number = numbers[generator.below(numbers.count)].1
        let values = SampleImport.values + [1, 2, 3, (1 << 36) - 1]
        text.replaceSubrange(
            number.startIndex..<number.endIndex, with: "\(values[generator.below(values.count)])")
        return Array(text.utf8)
    }
}

/// Dates of an import at the limits of the range, and beyond.
@Suite struct `Dates of an import` {
    private static let dates = [
        "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z",
        "0000-12-31T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
        "10000-01-01T00:00:00Z", "292277026596-12-04T15:30:08Z", "2026-02-30T00:00:00Z",
    ]

    /// The sample with every date replaced, then with random dates.
    @Test(arguments: dates, 0...(TestRounds.areAll ? 4 : 1))
    func `no date crashes the server, and accepted ones can be exported and imported (X10)`(
        date: String, number: Int
    ) async throws {
        var random = SeededGenerator(UInt64(number))
        let sample = try await SampleApplication.make(version: "3.0")
        let lines = SampleImport(sample).lines.map { line in
            line.replacing(/"[0-9]{4}-[0-9]{2}-[0-9]{2}T[^"]*"/) { match in
                number == 0 || random.once(in: 3) ? "\"\(date)\"" : String(match.0)
            }
        }
        let answer = try await sample.importLines(Array(lines.joined(separator: "\n").utf8))
        let comment: Comment = "\(date), \(number)"
        #expect([200, 422].contains(answer.status), "\(comment): \(answer)")
        let export = try await sample.readEverything(comment)
        let again = try await sample.importLines(Array(export.utf8))
        #expect(again.status == 200, "\(comment): \(again)")
        #expect(again.body.contains(#""changed":false"#), "\(comment): \(again)")
    }
}

@Suite struct `Numbers of an import` {
    @Test func `the sample is imported completely and exported unchanged`() async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let archive = SampleImport(sample)
        let answer = try await sample.importLines(Array(archive.lines.joined(separator: "\n").utf8))
        #expect(answer.status == 200, "\(answer)")
        try await sample.readEverything("sample")
    }

    /// Each member of a line that is a number or a set of positions.
    @Test(
        arguments: 0..<18, TestRounds.areAll ? SampleImport.values : [-1, 1 << 31, 1 << 36, .max])
    func
        `no number of a line stops the server, and one too high is refused by its name (ruling 25)`(
            line: Int, value: Int64
        ) async throws
    {
        let archive = SampleImport(try await SampleApplication.make())
        let count = archive.lines[line].matches(of: Self.number).count
        for index in 0..<count { try await drive(line, index, value) }
    }

    @Test(arguments: ["past", "hidden", "delivered", "read"])
    func `positions are below 2^36 (ruling 25)`(member: String) async throws {
        for value in SampleImport.values where value > 0 {
            let sample = try await SampleApplication.make(version: "3.0")
            let archive = SampleImport(sample)
            let lines = archive.lines.map { line in
                line.replacing(
                    try! Regex(#""\#(member)":"[0-9-]+""#), with: #""\#(member)":"1-\#(value)""#)
            }
            let answer = try await sample.importLines(Array(lines.joined(separator: "\n").utf8))
            #expect([200, 422].contains(answer.status), "\(member) 1-\(value): \(answer)")
            if value >= 1 << 36 {
                #expect(answer.status == 422)
                #expect(answer.body.contains("participants.\(member) must be"), "\(answer)")
            }
            // What a refused line leaves does not depend on the number.
            if value <= 1 << 36 || TestRounds.areAll {
                try await sample.readEverything("\(member) 1-\(value)")
            }
        }
    }

    private static var number: Regex<(Substring, Substring, Substring)> {
        /"([a-z_0-9]+)":(-?[0-9]+)(?![0-9])/
    }

    private func drive(_ line: Int, _ index: Int, _ value: Int64) async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        var lines = SampleImport(sample).lines
        let match = lines[line].matches(of: Self.number)[index]
        let member = String(match.1)
        lines[line].replaceSubrange(match.2.startIndex..<match.2.endIndex, with: "\(value)")
        let answer = try await sample.importLines(Array(lines.joined(separator: "\n").utf8))
        let comment: Comment = "line \(line + 1), \(member) \(value)"
        #expect([200, 422].contains(answer.status), "\(comment): \(answer)")
        let isSize = ["size", "at"].contains(member)
        if value < 0 || value >= (isSize ? 1 << 53 : 1 << 36) {
            #expect(answer.status == 422, "\(comment): \(answer)")
            #expect(answer.body.contains("Line \(line + 1): "), "\(comment): \(answer)")
            #expect(answer.body.contains(member), "\(comment): \(answer)")
        }
        // What a refused line leaves does not depend on the number.
        if answer.status == 200 || value < 0 || TestRounds.areAll {
            try await sample.readEverything(comment)
        }
    }
}
