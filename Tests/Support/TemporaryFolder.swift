internal import FoundationEssentials

/// A folder of one test, gone with the object.
public final class TemporaryFolder: Sendable {
    /// Where it is, without a trailing slash.
    public let path: String

    /// Makes it below the system's folder for temporary files, without which no test can go on.
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
        // Takes links away and never what they point to. At worst something is left behind in the
        // system's folder.
        try? FileManager.default.removeItem(atPath: path)
    }
}

extension AsyncSequence {
    /// Everything, in order.
    public func all() async throws -> [Element] {
        try await reduce(into: []) { all, element in all.append(element) }
    }
}
