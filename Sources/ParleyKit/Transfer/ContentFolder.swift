internal import Blobs
internal import Bytes
internal import FoundationEssentials
internal import Messaging
internal import SystemSupport

/// The files of contents on this device: complete ones, and partial ones of downloads.
///
/// All work on the disk runs on a thread of its own.
final class ContentFolder: Sendable {
    /// The bytes that are read or copied at once.
    static let pieceSize = 256 << 10
    private let folder: BlobFolder
    private let queue = WorkQueue("parley.kit.contents")
    /// How many ``Content`` objects read a file.
    private let pins = Locked<[String: Int]>([:])

    /// Opens the folder, and creates it if it does not exist.
    init(at path: String) throws(ParleyError) {
        do throws(DiskError) {
            folder = try BlobFolder(at: path)
        } catch {
            throw ParleyError(error)
        }
    }

    /// A file of a part to send, durable here.
    struct Prepared: Sendable {
        let mimeType: String
        let size: Int64
        /// The bytes of an inline part; `nil` for one with a file.
        let inline: [UInt8]?
        let file: BlobName?
        /// A file that is deleted once the message is stored.
        let original: String?
    }

    // MARK: - Parts to send

    /// Makes the bytes of a part durable here, unless they are so few that they go into the message.
    func prepare(_ part: PartDraft) async throws(ParleyError) -> Prepared {
        switch part.source {
        case .data(let data):
            guard data.count > Messaging.MessagePart.inlineLimit else {
                return Prepared(
                    mimeType: part.mimeType, size: Int64(data.count), inline: Array(data),
                    file: nil, original: nil)
            }
            let name = Self.newName
            try await run { folder throws(DiskError) in
                let staged = try folder.stage(name)
                for start in stride(from: 0, to: data.count, by: Self.pieceSize) {
                    let end = min(start + Self.pieceSize, data.count)
                    let piece = Array(data[data.startIndex + start..<data.startIndex + end])
                    try staged.write(piece.span, at: Int64(start))
                }
                try staged.commit()
                try folder.publish(name)
            }
            return Prepared(
                mimeType: part.mimeType, size: Int64(data.count), inline: nil, file: name,
                original: nil)
        case .file(let path, let keepsOriginal):
            return try await prepare(part.mimeType, path, keepsOriginal: keepsOriginal)
        case .stream(let next): return try await drain(part.mimeType, next)
        }
    }

    private func prepare(
        _ mimeType: String, _ path: String, keepsOriginal: Bool
    ) async throws(ParleyError) -> Prepared {
        let name = Self.newName
        return try await run { folder throws(DiskError) in
            let source = try BlobFile(at: path)
            let original = keepsOriginal ? nil : path
            guard source.size > Messaging.MessagePart.inlineLimit else {
                return Prepared(
                    mimeType: mimeType, size: source.size,
                    inline: try source.read(Int(source.size), at: 0), file: nil,
                    original: original)
            }
            do throws(DiskError) {
                // The second name of a file that the application gives away costs no copy.
                guard !keepsOriginal else {
                    throw DiskError(kind: .other, operation: "naming a file")
                }
                try folder.link(path, as: name)
            } catch {
                let staged = try folder.stage(name)
                // A file system that can share blocks copies none.
                try staged.copy(0..<source.size, of: source, to: 0)
                try staged.commit()
                try folder.publish(name)
            }
            return Prepared(
                mimeType: mimeType, size: source.size, inline: nil, file: name, original: original)
        }
    }

    private func drain(
        _ mimeType: String, _ next: @Sendable () async throws -> [UInt8]?
    ) async throws(ParleyError) -> Prepared {
        let name = Self.newName
        var size: Int64 = 0
        /// The first bytes, which may be all.
        var first: [UInt8]? = []
        do {
            let staged = try await run { folder throws(DiskError) in try folder.stage(name) }
            while let bytes = try await next() {
                guard size + Int64(bytes.count) <= PartDraft.sizeLimit else {
                    throw ParleyError.tooLarge
                }
                let start = size
                try await run { _ throws(DiskError) in try staged.write(bytes.span, at: start) }
                size += Int64(bytes.count)
                first = size <= Messaging.MessagePart.inlineLimit ? first.map { $0 + bytes } : nil
            }
            let isInline = first != nil
            try await run { folder throws(DiskError) in
                guard !isInline else { return try folder.discard(name) }
                try staged.commit()
                try folder.publish(name)
            }
            return Prepared(
                mimeType: mimeType, size: size, inline: first, file: isInline ? nil : name,
                original: nil)
        } catch {
            try? await run { folder throws(DiskError) in try folder.discard(name) }
            throw error as? ParleyError
                ?? ParleyError(.invalidMessage, "The stream of a part has thrown: \(error).")
        }
    }

    /// Deletes the files of parts that were not stored.
    func discard(_ parts: [Prepared]) async {
        await remove(parts.compactMap { part in part.file?.text })
    }

    /// Deletes the originals of parts that are stored.
    func removeOriginals(of parts: [Prepared]) {
        for part in parts {
            // One that cannot be deleted stays; the part has its own file.
            if let path = part.original { try? FileManager.default.removeItem(atPath: path) }
        }
    }

    private static var newName: BlobName {
        let id = Identifier<ContentFolder>.v7(at: Clock.now, random: .random(in: 0 ... .max))
        guard let name = BlobName(id.uuid) else { preconditionFailure("a UUID is a blob name") }
        return name
    }

    // MARK: - Reading

    /// Opens a complete file; `nil` if it is not here.
    func open(_ file: String) async throws(ParleyError) -> BlobFile? {
        guard let name = BlobName(file) else { return nil }
        return try await run { folder throws(DiskError) in
            do throws(DiskError) {
                return try folder.open(name)
            } catch {
                if error.kind == .missing { return nil }
                throw error
            }
        }
    }

    /// Reads a piece of a file.
    func read(_ file: BlobFile, _ count: Int, at position: Int64) async throws(ParleyError)
        -> [UInt8]
    {
        try await run { _ throws(DiskError) in try file.read(count, at: position) }
    }

    /// The SHA-256 of a file.
    func digest(of file: BlobFile) async throws(ParleyError) -> [UInt8] {
        var hash = SHA256()
        var position: Int64 = 0
        while position < file.size {
            if Task.isCancelled { throw .cancelled }
            let start = position
            let piece = try await read(file, Self.pieceSize, at: start)
            guard !piece.isEmpty else { break }
            hash.update(piece.span)
            position += Int64(piece.count)
        }
        return hash.digest
    }

    /// The path of a complete file.
    func path(of file: String) -> String? { BlobName(file).map { folder.path(of: $0) } }

    /// Protects a file from being evicted while it is read.
    func pin(_ file: String) { pins.withLock { pins in pins[file, default: 0] += 1 } }

    func unpin(_ file: String) {
        pins.withLock { pins in
            let count = (pins[file] ?? 1) - 1
            pins[file] = count > 0 ? count : nil
        }
    }

    func isPinned(_ file: String) -> Bool { pins.withLock { pins in pins[file] != nil } }

    // MARK: - Downloads

    /// Opens the partial file of a download, and creates it if it is missing.
    func stage(_ file: String) async throws(ParleyError) -> PartialFile {
        guard let name = BlobName(file) else { throw .contentNotHere }
        let staged = try await run { folder throws(DiskError) in try folder.stage(name) }
        return PartialFile(name: name, file: staged, folder: self)
    }

    /// A name for the file of a new download.
    func newFile() -> String { Self.newName.text }

    /// The number of free bytes of the volume.
    func freeSpace() async throws(ParleyError) -> Int64 {
        try await run { folder throws(DiskError) in try folder.freeSpace().available }
    }

    /// The sizes of all files.
    func files() async throws(ParleyError) -> (complete: [String: Int64], partial: [FolderEntry]) {
        try await run { folder throws(DiskError) in
            (
                Dictionary(try folder.entries().map { ($0.name, $0.size) }) { first, _ in first },
                try folder.stagedEntries()
            )
        }
    }

    /// Deletes files, complete or partial.
    func remove(_ files: [String]) async {
        let names = files.compactMap { file in BlobName(file) }
        guard !names.isEmpty else { return }
        // A file that cannot be deleted now has no row, and is deleted when the store is opened again.
        try? await run { folder throws(DiskError) in
            for name in names {
                try folder.delete(name)
                try folder.discard(name)
            }
        }
    }

    fileprivate func run<Value: Sendable>(
        _ work: @escaping @Sendable (BlobFolder) throws(DiskError) -> Value
    ) async throws(ParleyError) -> Value {
        do throws(DiskError) {
            return try await queue.run { [folder] () throws(DiskError) in try work(folder) }
        } catch {
            throw ParleyError(error)
        }
    }

    /// The partial file of a download.
    struct PartialFile: Sendable {
        fileprivate let name: BlobName
        fileprivate let file: StagedFile
        fileprivate let folder: ContentFolder

        /// The name of the file.
        var text: String { name.text }

        /// The number of bytes that are here.
        func size() async throws(ParleyError) -> Int64 {
            try await folder.run { _ throws(DiskError) in try file.size() }
        }

        func truncate(to size: Int64) async throws(ParleyError) {
            try await folder.run { _ throws(DiskError) in try file.truncate(to: size) }
        }

        func write(_ bytes: [UInt8], at position: Int64) async throws(ParleyError) {
            try await folder.run { _ throws(DiskError) in try file.write(bytes.span, at: position) }
        }

        /// The SHA-256 of all bytes.
        func digest() async throws(ParleyError) -> [UInt8] {
            let name = name
            return try await folder.digest(
                of: folder.run { folder throws(DiskError) in try folder.openStaged(name) })
        }

        /// Makes the bytes durable, and the file complete.
        func publish() async throws(ParleyError) {
            let name = name
            try await folder.run { folder throws(DiskError) in
                try file.commit()
                try folder.publish(name)
            }
        }
    }
}

extension ParleyError {
    static let contentNotHere = ParleyError(
        .contentNotHere, "The bytes of the part are not on this device; download them.")
    static let tooLarge = ParleyError(
        .tooLarge, "The parts of a message have at most \(PartDraft.sizeLimit) bytes together.")

    init(_ error: DiskError) {
        switch error.kind {
        case .full: self.init(.diskFull, "The disk is full.", isTransient: true)
        case .missing: self.init(.contentMissing, "The file does not exist.")
        default: self.init(.storeUnavailable, "A file cannot be used: \(error).")
        }
    }
}
