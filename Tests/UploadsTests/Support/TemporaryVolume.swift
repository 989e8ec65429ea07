import Glibc
import TestSupport

/// A small in-memory volume, mounted for one test.
final class TemporaryVolume: Sendable {
    let path: String
    private let folder = TemporaryFolder()

    /// Whether this process may mount; without it the tests of full disks are skipped.
    static let isPermitted: Bool = {
        let probe = try? TemporaryVolume(size: 1 << 20)
        if probe == nil {
            print("volumes: this process may not mount; the tests of full disks are skipped")
        }
        return probe != nil
    }()

    struct NotMounted: Error {}

    /// - Parameter size: In bytes; a multiple of a page.
    init(size: Int) throws {
        path = folder.path
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else { throw NotMounted() }
    }

    deinit { _ = umount2(path, Int32(MNT_DETACH)) }

    /// Makes the volume read-only or writable, once no file is open for writing: a request's
    /// file is closed a moment after its answer.
    func set(readOnly isReadOnly: Bool) async throws {
        let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
        for _ in 0..<6000 {
            if mount("tmpfs", path, "tmpfs", flags, nil) == 0 { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw NotMounted()
    }

    /// Fills all free space.
    func fill() {
        let file = open("\(path)/filler", O_WRONLY | O_CREAT, 0o600)
        let page = [UInt8](repeating: 1, count: 4096)
        while write(file, page, page.count) > 0 {}
        close(file)
    }

    /// Frees that space again.
    func free() { _ = unlink("\(path)/filler") }
}
