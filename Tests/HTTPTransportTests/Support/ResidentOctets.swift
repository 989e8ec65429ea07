import Glibc

/// Memory of this process; the kernel's buffers are not counted.
func residentOctets() throws -> Int {
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Client.Failure.system(errno) }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 128)
    let count = read(file, &text, text.count)
    let words = text[..<max(count, 0)].split(separator: UInt8(ascii: " "))
    guard words.count > 1, let pages = Int(String(decoding: words[1], as: UTF8.self)) else {
        throw Client.Failure.system(EIO)
    }
    return pages * sysconf(Int32(_SC_PAGESIZE))
}
