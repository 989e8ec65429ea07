import Glibc

/// A folder whose names can be made durable.
struct Folder: Sendable {
    let path: String

    /// Takes a folder that is there or makes it, its parents too, private to the process's user.
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

    func path(of name: String) -> String { "\(path)/\(name)" }

    /// Makes creations, renames and deletions inside durable.
    func sync() throws(DiskError) {
        try Descriptor(opening: path, O_RDONLY | O_DIRECTORY).sync()
    }

    func rename(_ name: String, into target: Folder, as newName: String) throws(DiskError) {
        try rename(path(of: name), to: target.path(of: newName), "rename")
    }

    /// Replaces whatever has the new name, at once.
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

    /// Deletes a file; one that is not there is deleted already.
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
        _ = try Descriptor(opening: path, O_RDONLY | O_DIRECTORY)
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
}
