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

    /// Deletes a complete blob; who is reading it reads on. Repeating it is harmless.
    public func delete(_ name: BlobName) throws(DiskError) {
        try content.remove("\(shelfName(name))/\(name)")
    }
}
