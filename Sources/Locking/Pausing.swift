/// Waits that many milliseconds; returns early when its task is cancelled.
///
/// What waits takes this from outside, so that tests need not wait.
package func pause(milliseconds: Int64) async {
    // A cancelled sleep means that nobody waits any more.
    try? await Task.sleep(for: .milliseconds(milliseconds))
}
