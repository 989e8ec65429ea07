import Glibc

// C boundary: the texts of paths and the structures live through the calls they are passed to, and the stream of a
// folder is closed where it was opened.

/// A folder on the disk. Every method blocks.
struct Folder: Sendable {
    let path: String

    /// Opens a folder, or creates it and its parents, accessible only to the user of this process.
    init(making path: String) throws(DiskError) {
        self.path = path
        do throws(DiskError) {
            try make()
        } catch {
            switch error.kind {
            case .exists:
                try requireFolder()
                return
            case .missing where !parent.path.isEmpty && parent.path != path:
                _ = try Folder(making: parent.path)
                try make()
            default: throw error
            }
        }
        try parent.sync()
    }

    private init(existing path: String) { self.path = path }

    /// Checks that ``init(making:)`` can create the folder, or that files can be created in an existing one;
    /// leaves nothing behind.
    static func check(_ path: String) throws(DiskError) {
        let folder = Folder(existing: path)
        do throws(DiskError) {
            try folder.requireFolder()
        } catch {
            // A dangling symbolic link exists, although it cannot be opened.
            let isThere = unsafe path.withCString { text in
                var status = stat()
                return unsafe lstat(text, &status) == 0
            }
            let parent = folder.parent.path
            guard error.kind == .missing, !isThere, !parent.isEmpty, parent != path else {
                throw error
            }
            return try check(parent)
        }
        // Each check has a name of its own: another one of the same folder can run at the same time.
        var probe = Array(folder.path(of: ".parley-check-XXXXXX").utf8CString)
        guard unsafe mkdtemp(&probe) != nil else {
            throw DiskError(operation: "mkdtemp", code: errno)
        }
        _ = unsafe rmdir(probe)
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    /// Makes all creations, renames and deletions in the folder durable.
    func sync() throws(DiskError) {
        try FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY).sync()
    }

    func rename(_ name: String, into target: Folder, as newName: String) throws(DiskError) {
        try rename(path(of: name), to: target.path(of: newName), "rename")
    }

    /// Renames a file; atomically replaces a file that has the new name.
    func rename(_ name: String, to newName: String) throws(DiskError) {
        try rename(path(of: name), to: path(of: newName), "rename")
    }

    private func rename(
        _ from: String, to: String, _ operation: StaticString
    ) throws(DiskError) {
        try systemCall(operation) {
            unsafe from.withCString { from in
                unsafe to.withCString { to in unsafe Glibc.rename(from, to) }
            }
        }
    }

    /// Gives another file a name in this folder.
    func link(_ file: String, as name: String) throws(DiskError) {
        let path = path(of: name)
        try systemCall("link") {
            unsafe file.withCString { file in
                unsafe path.withCString { path in unsafe Glibc.link(file, path) }
            }
        }
    }

    /// A folder in this one that exists.
    func subfolder(_ name: String) -> Folder { Folder(existing: path(of: name)) }

    /// Deletes a file; does nothing when it does not exist.
    func remove(_ name: String) throws(DiskError) {
        let path = path(of: name)
        do throws(DiskError) {
            try systemCall("unlink") { unsafe path.withCString { unsafe unlink($0) } }
        } catch {
            if error.kind != .missing { throw error }
        }
    }

    func contains(_ name: String) throws(DiskError) -> Bool {
        do throws(DiskError) {
            _ = try entry(name)
            return true
        } catch {
            if error.kind == .missing { return false }
            throw error
        }
    }

    private func requireFolder() throws(DiskError) {
        _ = try FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY)
    }

    private func make() throws(DiskError) {
        try systemCall("mkdir") { unsafe path.withCString { unsafe mkdir($0, 0o700) } }
    }

    private var parent: Folder {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true).dropLast()
        let text = parts.joined(separator: "/")
        if path.hasPrefix("/") { return Folder(existing: "/" + text) }
        return Folder(existing: text.isEmpty ? "." : text)
    }

    // MARK: Listing

    /// The names in the folder, without `.` and `..`, in no particular order.
    func names() throws(DiskError) -> [String] {
        guard let stream = unsafe path.withCString({ unsafe opendir($0) }) else {
            throw DiskError(operation: "opendir", code: errno)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            // `d_name` is an array that contains a terminating NUL, see readdir(3).
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { text in
                    unsafe String(cString: text)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// The size and the time of a file.
    func entry(_ name: String) throws(DiskError) -> FolderEntry {
        var status = stat()
        let path = path(of: name)
        try systemCall("lstat") { unsafe path.withCString { unsafe lstat($0, &status) } }
        let time = status.st_mtim
        return FolderEntry(
            // The unit of `st_blocks` is 512 bytes on every file system.
            name: name, size: Int64(status.st_size), allocated: Int64(status.st_blocks) * 512,
            modifiedAtMilliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The files in the folder; a file that is deleted during the call is left out.
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

/// A file in a folder.
public struct FolderEntry: Sendable, Equatable {
    /// The name in the folder.
    public let name: String
    /// The size, in bytes.
    public let size: Int64
    /// The disk space that the file uses, in bytes; above its size where space is reserved.
    public let allocated: Int64
    /// The time of the last change, in milliseconds since 1970 UTC.
    public let modifiedAtMilliseconds: Int64
}
