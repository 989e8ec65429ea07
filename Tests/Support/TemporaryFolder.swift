internal import FoundationEssentials

/// A temporary folder, removed with its last reference.
public final class TemporaryFolder: Sendable {
    /// Its path, without a trailing slash.
    public let path: String

    /// Creates the folder in the system's temporary folder; traps if that fails.
    public init() {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "parley-test-\(UUID().uuidString)").path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
        } catch {
            preconditionFailure("no folder at \(path): \(error)")
        }
    }

    deinit {
        // Removes links, never their targets. If it fails, a folder remains in the system's
        // temporary folder.
        try? FileManager.default.removeItem(atPath: path)
    }
}

extension AsyncSequence {
    /// All elements, in order.
    public func all() async throws -> [Element] {
        try await reduce(into: []) { all, element in all.append(element) }
    }
}
