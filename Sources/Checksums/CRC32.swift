import CZlib

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
