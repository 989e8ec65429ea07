import Glibc
import Testing

extension House {
    /// Has every further byte of the open staged file go to a device that takes all of them and can
    /// sync none.
    func breakSync() {
        for number in Int32(3)..<4096 {
            var name = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/fd/\(number)", &name, name.count)
            guard count > 0,
                String(decoding: name[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
                    == stagedPath
            else { continue }
            let device = Glibc.open("/dev/zero", O_RDWR | O_CLOEXEC)
            #expect(dup2(device, number) == number)
            close(device)
            return
        }
        Issue.record("the staged file is not open")
    }
}
