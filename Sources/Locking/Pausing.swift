/// Waits that many milliseconds; returns early when its task is cancelled.
///
/// What waits takes this from outside, so that tests need not wait.
package func pause(milliseconds: Int64) async {
    // A cancelled sleep means that nobody waits any more.
    try? await Task.sleep(for: .milliseconds(milliseconds))
}

/// Does something again and again, so many milliseconds after it was done, until its task is cancelled.
package func repeating(after milliseconds: Int64, _ work: () async -> Void) async {
    while true {
        await pause(milliseconds: milliseconds)
        if Task.isCancelled { return }
        await work()
    }
}
