import Testing

/// A page of metrics, read strictly by the grammar of the text format.
struct ReadMetrics {
    /// What is said of each family, in the order of the page.
    var families: [(name: String, kind: String, help: String)] = []
    /// The value of each sample by its name and labels, as they stand on the page.
    var samples: [String: Double] = [:]

    init(_ octets: [UInt8]) throws {
        let text = try #require(String(validating: octets, as: UTF8.self))
        #expect(text.hasSuffix("\n"))
        var help: [Substring] = []
        for line in text.split(separator: "\n") where line != "# EOF" {
            let words = line.split(separator: " ", maxSplits: 3)
            switch (words[0], words[1]) {
            case ("#", "HELP"): help = words
            case ("#", "TYPE"):
                // Each family says both, help first, and once.
                #expect(help[2] == words[2])
                #expect(!families.contains { family in family.name == words[2] })
                families.append((String(words[2]), String(words[3]), String(help[3])))
            case ("#", "UNIT"): #expect(words[2].hasSuffix("_" + words[3]))
            default:
                let place = try #require(line.lastIndex(of: " "))
                let family = try #require(families.last)
                #expect(line.hasPrefix(family.name))
                let name = String(line[..<place])
                #expect(samples[name] == nil)
                let value = try #require(Double(String(line[line.index(after: place)...])))
                samples[name] = value
            }
        }
    }
}
