import Glibc

/// One file in a folder.
public struct FolderEntry: Sendable, Equatable {
    /// Name inside the folder.
    public let name: String
    /// Size, in bytes.
    public let size: Int64
    /// What the file takes of the disk, in bytes; more than its size where room was reserved for it.
    public let allocated: Int64
    /// Last change, in milliseconds since 1970 UTC.
    public let modifiedAtMilliseconds: Int64
}

extension Folder {
    /// The names inside, without `.` and `..`, in no order.
    func names() throws(DiskError) -> [String] {
        guard let stream = unsafe path.withCString({ unsafe opendir($0) }) else {
            throw DiskError(operation: "opendir", code: errno)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            // `d_name` ends in NUL inside its array, as readdir(3) says.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { text in
                    unsafe String(cString: text)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Size and time of one file.
    func entry(_ name: String) throws(DiskError) -> FolderEntry {
        var status = stat()
        let path = path(of: name)
        try systemCall("lstat") { unsafe path.withCString { unsafe lstat($0, &status) } }
        let time = status.st_mtim
        return FolderEntry(
            // The unit of `st_blocks` is 512 bytes, whatever the file system's own.
            name: name, size: Int64(status.st_size), allocated: Int64(status.st_blocks) * 512,
            modifiedAtMilliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// What is inside; a file deleted while we look is left out.
    func entries() throws(DiskError) -> [FolderEntry] {
        var entries: [FolderEntry] = []
        for name in try names() {
            do throws(DiskError) {
                entries.append(try entry(name))
            } catch {
                if error.kind != .missing { throw error }
            }
        }
        return entries
    }
}
