import CZlib

/// A digest or checksum that is computed incrementally.
public protocol RunningDigest: Sendable {
    /// Length of the digest, in bytes.
    static var size: Int { get }

    /// A digest of no bytes.
    init()

    /// Adds bytes to the digest.
    mutating func update(_ bytes: Span<UInt8>)

    /// The digest of all bytes so far; more bytes may follow. Checksums are big-endian.
    var digest: [UInt8] { get }
}

extension RunningDigest {
    /// The digest of an array of bytes.
    public static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = Self()
        digest.update(bytes.span)
        return digest.digest
    }
}

/// A running CRC-32 checksum as in gzip, PNG and Ethernet, computed by zlib: reflected polynomial
/// 0xEDB88320, initial value and final XOR all ones.
public struct CRC32: Sendable, Equatable {
    /// The checksum of all bytes so far.
    public private(set) var value: UInt32

    /// A checksum of no bytes.
    public init() { value = 0 }

    /// Adds bytes to the checksum.
    public mutating func update(_ bytes: Span<UInt8>) {
        let start = UInt(value)
        // The pointer is used only inside this call, and the count is the span's own.
        let next = unsafe bytes.withUnsafeBufferPointer { bytes in
            // With a null pointer zlib would return its initial value instead.
            guard let address = bytes.baseAddress else { return start }
            return unsafe crc32_z(start, address, bytes.count)
        }
        value = UInt32(truncatingIfNeeded: next)
    }
}

extension CRC32: RunningDigest {
    /// Length of the digest, in bytes.
    public static let size = 4

    /// The checksum of all bytes so far, 4 bytes, big-endian.
    public var digest: [UInt8] { value.bigEndianBytes }
}

extension CRC32C: RunningDigest {
    /// Length of the digest, in bytes.
    public static let size = 4

    /// The checksum of all bytes so far, 4 bytes, big-endian.
    public var digest: [UInt8] { value.bigEndianBytes }
}

extension String {
    /// Writes bytes as lower-case hexadecimal digits.
    public init(hexadecimal bytes: some Sequence<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { byte in [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        self.init(decoding: text, as: UTF8.self)
    }
}
