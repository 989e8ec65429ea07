internal import Bytes
import HTTP

/// Writes a tar archive with one file, compressed with gzip and encrypted with AES-256-CBC, without
/// I/O.
///
/// It streams, so memory does not depend on the file's size. Not safe for concurrent use.
public final class EncryptedArchive {
    private let header: TarHeader
    private let deflater = Deflater(.gzip)
    private let cipher: Cipher
    private var rest: Int64

    /// Creates an archive.
    ///
    /// - Parameters:
    ///   - name: The file's name: at most 100 ASCII characters.
    ///   - size: The file's size in bytes; the tar header needs it before the first byte.
    ///   - modifiedAt: Seconds since 1970 UTC.
    ///   - key: 32 random bytes.
    ///   - initialVector: 16 random bytes, used for this archive only.
    public init(
        name: StaticString, size: Int64, modifiedAt: Int64, key: [UInt8], initialVector: [UInt8]
    ) {
        header = TarHeader(name: name, size: size, modifiedAt: modifiedAt)
        cipher = Cipher(key: key, initialVector: initialVector)
        rest = size
    }

    /// The first bytes of the archive.
    public func begin() -> [UInt8] { encrypt(header.bytes, .none) }

    /// Adds the next bytes of the file; returns the bytes of the archive that are complete.
    public func append(_ bytes: [UInt8]) -> [UInt8] {
        rest -= Int64(bytes.count)
        precondition(rest >= 0, "a file is longer than its header says")
        return encrypt(bytes, .none)
    }

    /// The last bytes of the archive: the padding, and the two empty blocks that end a tar file.
    public func finish() -> [UInt8] {
        precondition(rest == 0, "a file is shorter than its header says")
        let block = Int64(TarHeader.block)
        let padding = (block - header.size % block) % block + 2 * block
        return encrypt([UInt8](repeating: 0, count: Int(padding)), .finish) + cipher.finish()
    }

    private func encrypt(_ bytes: [UInt8], _ flush: Deflater.Flush) -> [UInt8] {
        cipher.encrypt(deflater.compress(bytes.span, flush))
    }
}

/// The 512 bytes in front of a file in a tar archive (POSIX.1-2017, pax, "ustar Interchange Format").
struct TarHeader {
    /// The file's name: at most 100 ASCII characters.
    let name: StaticString
    /// The file's size, in bytes.
    let size: Int64
    /// When it was made, in seconds since 1970 UTC.
    let modifiedAt: Int64

    /// Files are padded to a multiple of this many bytes.
    static let block = 512

    var bytes: [UInt8] {
        var header = [UInt8](repeating: 0, count: Self.block)
        func put(_ text: some Collection<UInt8>, at place: Int) {
            header.replaceSubrange(place..<(place + text.count), with: text)
        }
        put(Array("\(name)".utf8), at: 0)
        put(Self.octal(0o600, 7), at: 100)
        put(Self.octal(0, 7), at: 108)
        put(Self.octal(0, 7), at: 116)
        put(Self.number(size), at: 124)
        put(Self.octal(modifiedAt, 11), at: 136)
        // The checksum is computed as if its own field were blank.
        put([UInt8](repeating: UInt8(ascii: " "), count: 8), at: 148)
        put(Array("0".utf8), at: 156)
        put(Array("ustar\u{0}00".utf8), at: 257)
        put(Self.octal(header.reduce(0) { sum, byte in sum + Int64(byte) }, 6) + [0], at: 148)
        return header
    }

    /// Eleven octal digits reach 8 GiB; beyond that the base-256 form of GNU tar, which other
    /// programs read, too.
    private static func number(_ size: Int64) -> [UInt8] {
        guard size >= 1 << 33 else { return octal(size, 11) }
        return [0x80, 0, 0, 0]
            + size.bigEndianBytes
    }

    private static func octal(_ number: Int64, _ digits: Int) -> [UInt8] {
        (0..<digits).map { place in
            UInt8(ascii: "0") + UInt8(number >> (3 * (digits - 1 - place)) & 7)
        }
    }
}
