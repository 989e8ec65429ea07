import Descriptors
import Glibc
import HTTP

/// A regular file inside a folder, open for reading, with what the system said of it then.
final class OpenFile: FileContent {
    let descriptor: Int32
    let size: Int64
    /// Whole seconds since 1970 UTC.
    let modified: Int64
    /// Changes whenever the file is written or replaced, and outlives restarts (H102).
    let tag: EntityTag

    /// Opens a file by the names on its way, waiting for the disk.
    ///
    /// Each name is opened in the folder before it and none may be a link: nothing outside the
    /// folder can be reached, whatever is exchanged meanwhile. A pipe or a device is no file.
    ///
    /// - Parameter names: Without `/` and NUL, none of them a dot segment.
    init(in folder: Int32, _ names: [String]) throws(SystemError) {
        var parent = folder
        defer { if parent != folder { close(parent) } }
        for name in names.dropLast() {
            let next = try Self.open(name, in: parent, O_DIRECTORY)
            if parent != folder { close(parent) }
            parent = next
        }
        descriptor = try Self.open(names[names.count - 1], in: parent, O_NONBLOCK)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw SystemError("open", code: ENOENT)
        }
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec)
        let version = [
            UInt64(truncatingIfNeeded: status.st_ino), UInt64(truncatingIfNeeded: status.st_size),
            UInt64(truncatingIfNeeded: status.st_mtim.tv_sec),
            UInt64(truncatingIfNeeded: status.st_mtim.tv_nsec),
        ]
        tag = EntityTag(
            opaque: version.map { number in String(number, radix: 16) }.joined(separator: "-"))
    }

    deinit { close(descriptor) }

    private static func open(
        _ name: String, in folder: Int32, _ flags: Int32
    ) throws(SystemError) -> Int32 {
        while true {
            let opened = unsafe name.withCString { name in
                unsafe openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags)
            }
            if opened >= 0 {
                if DescriptorLimit.leavesSome(behind: opened, for: .file) { return opened }
                close(opened)
                throw SystemError("open", code: EMFILE)
            }
            if errno != EINTR { throw SystemError("open") }
        }
    }
}
