import FoundationEssentials

/// The files beside the package's manifest.
enum Repository {
    static func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// An article of ParleyServer.docc.
    static func article(_ name: String) throws -> String {
        try text("Sources/ParleyServer/ParleyServer.docc/\(name).md")
    }

    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    static func remove(_ path: String) {
        // Left behind in the system's temporary folder at worst.
        try? FileManager.default.removeItem(atPath: path)
    }
}
