internal import FoundationEssentials
internal import Glibc

/// Opens an archive as its receiver would: with the commands `openssl` and `tar`.
public func unpacked(_ archive: [UInt8], key: [UInt8], initialVector: [UInt8]) throws -> [UInt8] {
    let folder = TemporaryFolder()
    try Data(archive).write(to: URL(filePath: "\(folder.path)/sealed"))
    let status = system(
        """
        cd '\(folder.path)' && openssl enc -d -aes-256-cbc -K \(hexadecimal(key)) \
        -iv \(hexadecimal(initialVector)) -in sealed | tar xz
        """)
    guard status == 0 else { throw NotOpened() }
    return Array(try Data(contentsOf: URL(filePath: "\(folder.path)/export.json")))
}

/// The commands could not open it.
private struct NotOpened: Error {}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return bytes.map { byte in "\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])" }.joined()
}
