import CLinux
import Glibc

/// Starts and waits for write-back of a part of a file.
///
/// Hints, whose failure costs speed alone. They make nothing durable; `fdatasync` alone does.
enum WriteBack {
    /// Asks the kernel to begin writing these bytes out.
    static func start(_ descriptor: Descriptor, _ bytes: Range<Int64>) {
        _ = sync_file_range(
            descriptor.number, Int(bytes.lowerBound), bytes.count, UInt32(SYNC_FILE_RANGE_WRITE))
    }

    /// Waits until these bytes left the page cache, then drops their pages.
    static func finish(_ descriptor: Descriptor, _ bytes: Range<Int64>) {
        let wholly =
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER
        _ = sync_file_range(
            descriptor.number, Int(bytes.lowerBound), bytes.count, UInt32(wholly))
        _ = posix_fadvise(
            descriptor.number, Int(bytes.lowerBound), bytes.count, POSIX_FADV_DONTNEED)
    }
}
