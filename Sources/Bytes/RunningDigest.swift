import CZlib

/// A digest taken of bytes as they come.
public protocol RunningDigest: Sendable {
    /// Length of the digest, in bytes.
    static var size: Int { get }

    /// Starts over no bytes.
    init()

    /// Takes the next bytes.
    mutating func update(_ bytes: Span<UInt8>)

    /// Of everything so far, the state stays as it is; checksums with their highest byte first.
    var digest: [UInt8] { get }
}

extension RunningDigest {
    /// The digest of bytes in memory.
    public static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = Self()
        digest.update(bytes.span)
        return digest.digest
    }
}

/// A running CRC-32 as gzip, PNG and Ethernet have it: reflected polynomial 0xEDB88320, all ones in
/// and out. zlib's own.
public struct CRC32: Sendable, Equatable {
    /// The checksum of everything taken so far.
    public private(set) var value: UInt32

    /// Starts over no bytes.
    public init() { value = 0 }

    /// Takes the next bytes.
    public mutating func update(_ bytes: Span<UInt8>) {
        let start = UInt(value)
        // The pointer lives only inside this call, and the count is the span's own.
        let next = unsafe bytes.withUnsafeBufferPointer { bytes in
            // Without an address zlib would start anew.
            guard let address = bytes.baseAddress else { return start }
            return unsafe crc32_z(start, address, bytes.count)
        }
        value = UInt32(truncatingIfNeeded: next)
    }
}

extension CRC32: RunningDigest {
    /// Length of the digest, in bytes.
    public static let size = 4

    /// The digest of everything so far, 4 bytes, the highest first.
    public var digest: [UInt8] { bigEndian(value) }
}

extension CRC32C: RunningDigest {
    /// Length of the digest, in bytes.
    public static let size = 4

    /// The digest of everything so far, 4 bytes, the highest first.
    public var digest: [UInt8] { bigEndian(value) }
}

/// A checksum as it is sent: four bytes, the highest first.
private func bigEndian(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
}

extension String {
    /// Bytes as lower-case hexadecimal digits.
    public init(hexadecimal bytes: some Sequence<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { byte in [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        self.init(decoding: text, as: UTF8.self)
    }
}
