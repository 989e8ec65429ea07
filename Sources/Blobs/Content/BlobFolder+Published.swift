import Glibc

extension BlobFolder {
    /// Opens a complete blob for reading.
    ///
    /// - Throws: ``DiskError/Kind/missing`` when nothing of that name is complete.
    public func open(_ name: BlobName) throws(DiskError) -> BlobFile {
        try BlobFile(Descriptor(opening: "\(content.path)/\(shelfName(name))/\(name)", O_RDONLY))
    }

    /// Whether a complete blob has this name.
    public func contains(_ name: BlobName) throws(DiskError) -> Bool {
        try content.contains("\(shelfName(name))/\(name)")
    }

    /// Deletes a complete blob durably; who is reading it reads on. Repeating it is harmless.
    ///
    /// - Returns: Bytes that are free now, or once nobody reads them.
    public func erase(_ name: BlobName) throws(DiskError) -> Int64 {
        let shelf = try shelf(name)
        let size: Int64
        do throws(DiskError) {
            size = try shelf.entry(name.text).size
        } catch {
            guard error.kind == .missing else { throw error }
            size = 0
        }
        try shelf.remove(name.text)
        try shelf.sync()
        return size
    }

    /// Deletes a complete blob; who is reading it reads on. Repeating it is harmless.
    public func delete(_ name: BlobName) throws(DiskError) {
        try content.remove("\(shelfName(name))/\(name)")
    }
}
