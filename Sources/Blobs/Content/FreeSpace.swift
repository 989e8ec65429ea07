import Glibc

/// Room on the volume of a folder.
public struct FreeSpace: Sendable, Equatable {
    /// Bytes this process may still take.
    public let available: Int64
    /// Bytes the volume has in all.
    public let total: Int64
}

extension BlobFolder {
    /// Asks the volume how much room it has (`statvfs`).
    public func freeSpace() throws(DiskError) -> FreeSpace {
        var volume = statvfs()
        try systemCall("statvfs") { unsafe path.withCString { unsafe statvfs($0, &volume) } }
        // A volume too large for 63 bits is as good as one of that size.
        let block = UInt64(volume.f_frsize)
        return FreeSpace(
            available: bytes(UInt64(volume.f_bavail), of: block),
            total: bytes(UInt64(volume.f_blocks), of: block))
    }

    private func bytes(_ count: UInt64, of block: UInt64) -> Int64 {
        let (product, overflow) = count.multipliedReportingOverflow(by: block)
        return overflow ? .max : Int64(clamping: product)
    }
}
