import Glibc

/// A folder with a few files, gone with the object.
final class Folder {
    let path: String

    init() throws {
        var name = Array("/tmp/parley-files-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw Client.Failure.system(errno) }
        path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { remove(path) }

    func write(_ name: String, _ octets: [UInt8], modified: Int = 784_111_777) throws {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw Client.Failure.system(errno) }
        defer { close(descriptor) }
        var written = 0
        while written < octets.count {
            let count = octets[written...].withUnsafeBytes { rest in
                Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            guard count > 0 else { throw Client.Failure.system(errno) }
            written += count
        }
        let time = timespec(tv_sec: modified, tv_nsec: 0)
        futimens(descriptor, [time, time])
    }

    func write(_ name: String, _ text: String, modified: Int = 784_111_777) throws {
        try write(name, Array(text.utf8), modified: modified)
    }

    func folder(_ name: String) { mkdir("\(path)/\(name)", 0o700) }

    func link(_ name: String, to target: String) { symlink(target, "\(path)/\(name)") }

    /// Takes a folder away with all it holds; what a link in it points to stays as it is.
    private func remove(_ path: String) {
        // Never follows a link, and fails for a folder.
        if unlink(path) == 0 { return }
        if let entries = opendir(path) {
            while let entry = readdir(entries) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != ".", name != ".." { remove("\(path)/\(name)") }
            }
            closedir(entries)
        }
        rmdir(path)
    }
}
