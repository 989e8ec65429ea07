import Glibc

/// A folder for one test, gone with it.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/parley-test-XXXXXX".utf8CString)
        template.withUnsafeMutableBufferPointer { text in
            if let start = text.baseAddress { _ = mkdtemp(start) }
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { remove(path) }

    private func remove(_ path: String) {
        if let stream = opendir(path) {
            var names: [String] = []
            while let entry = readdir(stream) {
                names.append(
                    withUnsafePointer(to: &entry.pointee.d_name) { name in
                        name.withMemoryRebound(to: CChar.self, capacity: 256) {
                            String(cString: $0)
                        }
                    })
            }
            closedir(stream)
            for name in names where name != "." && name != ".." { remove("\(path)/\(name)") }
        }
        _ = Glibc.remove(path)
    }
}
