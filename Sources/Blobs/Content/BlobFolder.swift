/// Blobs on the local disk: what is still arriving, and what is complete.
///
/// ```
/// folder/staged/<name>          one file per upload that is not complete
/// folder/content/<nn>/<name>    complete and immutable; nn = last two characters of the name
/// ```
///
/// Both lie on one file system, so publishing is one rename. Every method waits for the disk: call
/// it on a ``WorkQueue``.
public struct BlobFolder: Sendable {
    /// Where everything lies.
    public let path: String
    let staged: Folder
    let content: Folder

    /// Takes the folder, making what is missing, private to this process's user.
    public init(at path: String) throws(DiskError) {
        self.path = path
        _ = try Folder(making: path)
        staged = try Folder(making: "\(path)/staged")
        content = try Folder(making: "\(path)/content")
    }

    /// The shelf of a published blob; spread, because tools choke on one folder of millions.
    func shelf(_ name: BlobName) throws(DiskError) -> Folder {
        try Folder(making: content.path(of: shelfName(name)))
    }

    func shelfName(_ name: BlobName) -> String { String(name.text.suffix(2)) }
}
