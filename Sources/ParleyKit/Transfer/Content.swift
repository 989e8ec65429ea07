internal import Blobs
public import FoundationEssentials

/// The bytes of a part on this device. They are not evicted while this object lives.
public final class Content: Sendable {
    private let source: Source

    private enum Source: Sendable {
        case inline(Data)
        case file(BlobFile, name: String, ContentFolder)
    }

    init(inline: Data) { source = .inline(inline) }

    /// Takes over a pin of the file.
    init(_ file: BlobFile, named name: String, in folder: ContentFolder) {
        source = .file(file, name: name, folder)
    }

    deinit {
        if case .file(_, let name, let folder) = source { folder.unpin(name) }
    }

    /// The file with the bytes, which must not be changed; `nil` for an inline part.
    public var fileURL: URL? {
        guard case .file(_, let name, let folder) = source else { return nil }
        return folder.path(of: name).map { path in URL(filePath: path) }
    }

    /// The size in bytes.
    public var size: Int64 {
        switch source {
        case .inline(let data): Int64(data.count)
        case .file(let file, _, _): file.size
        }
    }

    /// All bytes, in memory.
    public func data() async throws(ParleyError) -> Data {
        if case .inline(let data) = source { return data }
        var data = Data()
        var position: Int64 = 0
        while position < size {
            let piece = try await read(position..<min(size, position + (1 << 20)))
            guard !piece.isEmpty else { break }
            data.append(contentsOf: piece)
            position += Int64(piece.count)
        }
        return data
    }

    /// Some bytes; fewer only at the end.
    public func read(_ range: Range<Int64>) async throws(ParleyError) -> [UInt8] {
        let range = range.clamped(to: 0..<size)
        switch source {
        case .inline(let data):
            return Array(Array(data)[Int(range.lowerBound)..<Int(range.upperBound)])
        case .file(let file, _, let folder):
            return try await folder.read(file, range.count, at: range.lowerBound)
        }
    }
}
