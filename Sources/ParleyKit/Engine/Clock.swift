internal import FoundationEssentials
internal import Messaging

/// The time of this device.
enum Clock {
    /// Now.
    static var now: Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}
