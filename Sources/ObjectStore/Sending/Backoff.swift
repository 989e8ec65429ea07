/// How long to wait before another attempt: twice as long each time, and by chance up to half of that
/// less, so that clients the store turned away together do not come back together (§10.3).
struct Backoff: Sendable {
    /// Milliseconds.
    let first: Int64
    /// Milliseconds.
    let longest: Int64

    /// The wait after so many attempts, in milliseconds.
    func wait(after attempts: Int, random: (ClosedRange<Int64>) -> Int64) -> Int64 {
        let doublings = min(attempts - 1, 30)
        let whole = min(longest, first << Int64(doublings))
        return whole - random(0...(whole / 2))
    }
}
