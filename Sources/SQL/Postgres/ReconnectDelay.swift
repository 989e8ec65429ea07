/// How long a server that could not be reached is left alone: 0.1 s, 0.2 s … up to 2 s, a random part of
/// it less, so that many processes do not come back at the same moment.
struct ReconnectDelay {
    private static let first = Duration.milliseconds(100)
    private static let longest = Duration.seconds(2)

    private var next = first
    private var last: (failure: SQLError, end: ContinuousClock.Instant)?

    /// Why the server could not be reached, while it is too early to try again.
    func failure(at now: ContinuousClock.Instant) -> SQLError? {
        last.flatMap { last in now < last.end ? last.failure : nil }
    }

    /// Notes a failure.
    mutating func grow(at now: ContinuousClock.Instant, after failure: SQLError) {
        last = (failure, now + next * Double.random(in: 0.5...1))
        next = min(next * 2, Self.longest)
    }

    /// Notes a success.
    mutating func reset() { self = ReconnectDelay() }
}
