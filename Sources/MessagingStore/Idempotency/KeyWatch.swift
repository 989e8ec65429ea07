import Locking
import Messaging
import SQL

/// Looks once whether a key was used before: when its request first asks the store for something.
///
/// By then the shape of the request was found good (platform-api §1.6, step 7) and nothing of what it
/// names has been looked up (step 9).
final class KeyWatch: Sendable {
    let request: KeyedRequest
    private let found = Locked<Found>(.unseen)

    enum Found {
        case unseen, unused
        case answered(KeptAnswer)
        case reused
    }

    /// Thrown through a handler to its end: there is an answer already.
    struct IsAnswered: Error {}

    init(_ request: KeyedRequest) { self.request = request }

    /// What the look found.
    var result: Found { found.withLock { found in found } }

    /// Passes when the key was not used before.
    func check(_ transaction: Transaction) throws {
        var found = result
        if case .unseen = found {
            found = try transaction.found(request)
            self.found.withLock { [found] known in known = found }
        }
        switch found {
        case .unseen, .unused: return
        case .answered, .reused: throw IsAnswered()
        }
    }
}
