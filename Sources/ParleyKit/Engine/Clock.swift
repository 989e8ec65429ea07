internal import FoundationEssentials
internal import Messaging

/// The time of this device.
enum Clock {
    /// How far this device's clock is wrong, in milliseconds; set by tests only.
    @TaskLocal static var error: Int64 = 0

    /// Now.
    static var now: Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + error)
    }
}
