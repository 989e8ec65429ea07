import TestSupport
import Testing

/// Files of an import with something wrong in them.
@Suite struct `Mutated imports` {
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `whatever is wrong with a file, all that it made can be read`(seed: UInt64) async throws {
        var generator = Generator(seed)
        let scene = try await Scene.make(version: "3.0")
        if generator.below(2) == 0 {
            _ = try await scene.ask(
                "POST", "/apps/{app}/conversations",
                #"{"participants":["ana","bo"],"distinct":true}"#, by: scene.door)
        }
        let file = Self.mutated(SampleImport(scene).lines, &generator)
        for _ in 1...2 {
            let answer = try await scene.bring(file)
            #expect([200, 400, 422].contains(answer.status), "seed \(seed): \(answer)")
            let counts = try await scene.distinctCounts()
            #expect(counts.allSatisfy { $0.value == 1 }, "seed \(seed): \(counts)")
        }
        let export = try await scene.readEverything("seed \(seed)")
        let again = try await scene.bring(Array(export.utf8))
        #expect(again.status == 200, "seed \(seed): \(again)")
        #expect(again.body.contains(#""changed":false"#), "seed \(seed): \(again)")
    }

    private static func mutated(_ whole: [String], _ generator: inout Generator) -> [UInt8] {
        var lines = whole.map { Array($0.utf8) }
        // The first line stays, most times: without it nothing comes.
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
        _ line: [UInt8], _ generator: inout Generator
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
