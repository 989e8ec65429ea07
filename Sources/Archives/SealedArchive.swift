import HTTP

/// One file in a tar archive, compressed with gzip, encrypted with AES-256-CBC; no I/O.
///
/// Bytes go in as they come, and what can leave comes out, so memory does not depend on the size of
/// the file. Belongs to whoever made it; not to be shared between threads.
public final class SealedArchive {
    private let header: TarHeader
    private let deflater = Deflater(.gzip)
    private let cipher: Cipher
    private var rest: Int64

    /// Begins an archive.
    ///
    /// - Parameters:
    ///   - name: Of the file inside: at most 100 ASCII characters.
    ///   - size: Of the file inside, in bytes: tar says it before the first of them.
    ///   - modifiedAt: Seconds since 1970 UTC.
    ///   - key: 32 bytes nobody can guess.
    ///   - initialVector: 16 such bytes, for this archive alone.
    public init(
        name: StaticString, size: Int64, modifiedAt: Int64, key: [UInt8], initialVector: [UInt8]
    ) {
        header = TarHeader(name: name, size: size, modifiedAt: modifiedAt)
        cipher = Cipher(key: key, initialVector: initialVector)
        rest = size
    }

    /// The first bytes of the archive.
    public func begin() -> [UInt8] { seal(header.bytes, .none) }

    /// Takes the next bytes of the file and gives those of the archive that can leave.
    public func append(_ bytes: [UInt8]) -> [UInt8] {
        rest -= Int64(bytes.count)
        precondition(rest >= 0, "a file is longer than its header says")
        return seal(bytes, .none)
    }

    /// The last bytes of the archive: the padding, and the two empty blocks all tar files end in.
    public func finish() -> [UInt8] {
        precondition(rest == 0, "a file is shorter than its header says")
        let block = Int64(TarHeader.block)
        let padding = (block - header.size % block) % block + 2 * block
        return seal([UInt8](repeating: 0, count: Int(padding)), .finish) + cipher.finish()
    }

    private func seal(_ bytes: [UInt8], _ flush: Deflater.Flush) -> [UInt8] {
        cipher.encrypt(deflater.compress(bytes.span, flush))
    }
}
