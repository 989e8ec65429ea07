import Messaging
import MessagingStore

extension StoreEnvironment {
    /// A new, time-ordered id of a content; uploads need it before the store knows of them.
    func newContentID() -> Content.ID {
        let random = randomBytes(16).reduce(UInt128(0)) { bits, byte in bits << 8 | UInt128(byte) }
        return .v7(at: now(), random: random)
    }
}
