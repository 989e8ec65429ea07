import FoundationEssentials
import Testing

/// The articles of ParleyKit.
@Suite struct DocumentationTests {
    private static let repository = #filePath.split(separator: "/").dropLast(3)
        .map { "/\($0)" }.joined()

    @Test func `the examples of the articles compile`() throws {
        let examples = Self.plain(
            try Self.text("Tests/ParleyKitTests/DocumentationExamples.swift"))
        var count = 0
        for article in [
            "ParleyKit", "Offline", "RichContent", "LiveQueries", "Errors", "MigratingFromLayerKit",
        ] {
            let text = try Self.text("Sources/ParleyKit/ParleyKit.docc/\(article).md")
            for block in Self.blocks(text) {
                // Examples that belong together are separate in the file.
                for example in block.split(separator: "\n\n").map({ Self.plain(String($0)) })
                where !example.isEmpty {
                    #expect(examples.contains(example), "\(article): \(block)")
                    count += 1
                }
            }
        }
        for file in ["ParleyClient", "Query/Query", "Query/Filter"] {
            let comments = try Self.text("Sources/ParleyKit/\(file).swift").split(separator: "\n")
                .filter { line in line.hasPrefix("///") }.map { line in line.dropFirst(4) }
            for block in Self.blocks(comments.joined(separator: "\n")) {
                #expect(examples.contains(Self.plain(block)), "\(file): \(block)")
                count += 1
            }
        }
        #expect(count > 20)
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: URL(filePath: "\(repository)/\(path)"), encoding: .utf8)
    }

    /// The blocks of Swift in Markdown.
    private static func blocks(_ markdown: String) -> [String] {
        markdown.split(separator: "```swift\n").dropFirst().compactMap { rest in
            rest.split(separator: "```", maxSplits: 1).first.map(String.init)
        }
    }

    /// Code without comments behind it and without the layout, which depends on the width of the lines.
    private static func plain(_ code: String) -> String {
        code.split(separator: "\n").map { line in
            line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
        }
        .filter { line in !line.hasPrefix("import ") }
        .joined().filter { character in !character.isWhitespace }
    }
}
