internal import Foundation

/// The bytes that a task has received and its reader has not read: a limited number in memory, the others in a file.
///
/// A task cannot be slowed down everywhere: on Linux one that is suspended loses its connection.
struct ReceivedBytes {
    /// The most bytes in memory, beside those that were received last.
    static let memoryLimit = 4 << 20
    /// The most bytes that are read from the file at once.
    private static let pieceSize = 256 << 10

    private(set) var memory: [UInt8] = []
    /// The bytes behind those in memory; `nil` while there are none.
    private var file: OverflowFile?

    /// Adds bytes at the end.
    ///
    /// - Throws: An error of the disk.
    mutating func append(_ bytes: Data) throws {
        if file == nil, memory.count + bytes.count <= Self.memoryLimit {
            memory += bytes
        } else {
            if file == nil { file = try OverflowFile() }
            try file?.append(bytes)
        }
    }

    /// Removes the next bytes; none if there are none.
    ///
    /// - Throws: An error of the disk.
    mutating func next() throws -> [UInt8] {
        guard memory.isEmpty, let file else {
            defer { memory = [] }
            return memory
        }
        let bytes = try file.read(Self.pieceSize)
        if file.isEmpty { self.file = nil }
        return bytes
    }

    /// A file without a name, of which the beginning was read.
    private final class OverflowFile {
        private let handle: FileHandle
        private var start: UInt64 = 0
        private var end: UInt64 = 0

        init() throws {
            let path = FileManager.default.temporaryDirectory
                .appending(path: "parley-download-\(UUID().uuidString)").path
            guard
                FileManager.default.createFile(
                    atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
            handle = try FileHandle(forUpdating: URL(filePath: path))
            // The open file stays until it is closed.
            try FileManager.default.removeItem(atPath: path)
        }

        deinit { try? handle.close() }

        var isEmpty: Bool { start == end }

        func append(_ bytes: Data) throws {
            try handle.seek(toOffset: end)
            try handle.write(contentsOf: bytes)
            end += UInt64(bytes.count)
        }

        func read(_ count: Int) throws -> [UInt8] {
            try handle.seek(toOffset: start)
            let bytes = try handle.read(upToCount: Int(min(UInt64(count), end - start))) ?? Data()
            guard !bytes.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
            start += UInt64(bytes.count)
            return Array(bytes)
        }
    }
}
