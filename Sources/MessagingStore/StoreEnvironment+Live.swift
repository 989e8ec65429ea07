import COpenSSL
import Digests
import Glibc
import Messaging

// A file of the C boundary: OpenSSL writes exactly the arrays it is handed, during the call.
extension StoreEnvironment {
    /// The system's clock, and OpenSSL for the rest.
    public static let live = StoreEnvironment(
        now: {
            var time = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &time)
            return Timestamp(
                milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
        },
        randomBytes: { count in
            var bytes = [UInt8](repeating: 0, count: count)
            let done = unsafe RAND_bytes(&bytes, Int32(count))
            precondition(done == 1, "OpenSSL has no randomness, and a guessable token is worse")
            return bytes
        },
        sha256: { bytes in Digests.SHA256.digest(of: bytes) }
    )
}
