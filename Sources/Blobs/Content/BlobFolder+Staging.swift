import Glibc

extension BlobFolder {
    /// Opens the staged file of a name, making an empty one where there is none.
    ///
    /// The name is made durable with the file's first commit, not before: an upload without a
    /// byte needs no file.
    public func stage(_ name: BlobName) throws(DiskError) -> StagedFile {
        let path = staged.path(of: name.text)
        do throws(DiskError) {
            return try StagedFile(
                Descriptor(opening: path, O_RDWR), at: path, isNew: false, in: staged)
        } catch {
            if error.kind != .missing { throw error }
        }
        let made = try Descriptor(opening: path, O_RDWR | O_CREAT)
        return try StagedFile(made, at: path, isNew: true, in: staged)
    }

    /// Opens a staged file for reading, as it is.
    ///
    /// - Throws: ``DiskError/Kind/missing`` when nothing of that name is staged.
    public func openStaged(_ name: BlobName) throws(DiskError) -> BlobFile {
        try BlobFile(Descriptor(opening: staged.path(of: name.text), O_RDONLY))
    }

    /// Size of the staged file, in bytes; `nil` when there is none.
    public func stagedSize(_ name: BlobName) throws(DiskError) -> Int64? {
        do throws(DiskError) {
            return try staged.entry(name.text).size
        } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }

    /// Every staged file, in no order: what recovery compares with the records.
    public func stagedEntries() throws(DiskError) -> [FolderEntry] { try staged.entries() }

    /// Deletes a staged file; repeating it is harmless.
    public func discard(_ name: BlobName) throws(DiskError) { try staged.remove(name.text) }

    /// Makes an empty file that has no name: it goes with its last holder, however he ends.
    ///
    /// - Parameter name: What it is called for an instant; nobody else may use it.
    public func scratch(_ name: BlobName) throws(DiskError) -> StagedFile {
        let file = try stage(name)
        try discard(name)
        return file
    }

    /// Moves a committed staged file among the complete ones, durably.
    ///
    /// Repeating it is harmless, also after a crash in the middle: a file that has moved already
    /// has only its folders synced again.
    ///
    /// - Parameter other: What it was called while it was staged; `nil` for the same.
    /// - Throws: ``DiskError/Kind/missing`` when the name is neither staged nor published.
    public func publish(_ name: BlobName, stagedAs other: BlobName? = nil) throws(DiskError) {
        let shelf = try shelf(name)
        do throws(DiskError) {
            try staged.rename((other ?? name).text, into: shelf, as: name.text)
        } catch {
            guard error.kind == .missing, try shelf.contains(name.text) else { throw error }
        }
        try shelf.sync()
        try staged.sync()
    }
}
