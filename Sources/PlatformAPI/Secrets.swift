import Locking

/// Whether an answer holds a secret: a signed URL opens a content to whoever reads it.
///
/// Beside it stands text that callers chose, so the length of a compressed answer would tell of the
/// URL, guess by guess (BREACH, H115). Such an answer is sent as it is.
final class Secrets: Sendable {
    private let told = Locked(false)

    /// Notes that a secret is written into the answer.
    func note() { told.withLock { told in told = true } }

    /// Whether one was.
    var areTold: Bool { told.withLock { told in told } }
}
