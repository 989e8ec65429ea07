import MessagingStore

/// How many of what an import has brought, and how many it has found.
struct ImportTally {
    private var names: [String] = []
    private var counts: [String: (brought: Int, present: Int)] = [:]
    private var merged = 0

    /// Whether anything is another than before.
    private(set) var hasChanged = false

    mutating func count(_ outcome: ImportOutcome, of name: String) {
        if counts[name] == nil { names.append(name) }
        switch outcome {
        case .brought, .merged:
            counts[name, default: (0, 0)].brought += 1
            hasChanged = true
        case .present: counts[name, default: (0, 0)].present += 1
        }
    }

    mutating func countSettled(_ outcome: ImportOutcome) {
        switch outcome {
        case .merged:
            merged += 1
            hasChanged = true
        case .brought: hasChanged = true
        case .present: break
        }
    }

    /// A line for each kind, its members parted by tabs.
    var lines: [String] {
        names.map { name in
            let count = counts[name] ?? (0, 0)
            return "\(name)\t\(count.brought) brought\t\(count.present) there already"
        } + ["conversations merged\t\(merged)"]
    }
}
