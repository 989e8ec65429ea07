import Glibc
import TestSupport

extension TemporaryFolder {
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
}
