import Synchronization

/// Whether an answer holds a secret: a signed URL opens a content to whoever reads it.
///
/// Beside it stands text that callers chose, so the length of a compressed answer would tell of the
/// URL, guess by guess (BREACH, H115). Such an answer is sent as it is.
final class Secrets: Sendable {
    private let told = Atomic(false)

    /// Notes that a secret is written into the answer.
    func note() { told.store(true, ordering: .relaxed) }

    /// Whether one was.
    var areTold: Bool { told.load(ordering: .relaxed) }
}
