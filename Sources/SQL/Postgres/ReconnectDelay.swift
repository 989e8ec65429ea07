/// How long a server that could not be reached is left alone: 0.1 s, 0.2 s … up to 2 s, a random part of
/// it less, so that many processes do not come back at the same moment.
struct ReconnectDelay {
    private static let first = Duration.milliseconds(100)
    private static let longest = Duration.seconds(2)

    private var next = first
    private var end: ContinuousClock.Instant?

    /// Whether it is too early to try again.
    func holds(at now: ContinuousClock.Instant) -> Bool { end.map { end in now < end } ?? false }

    /// Notes a failure.
    mutating func grow(at now: ContinuousClock.Instant) {
        end = now + next * Double.random(in: 0.5...1)
        next = min(next * 2, Self.longest)
    }

    /// Notes a success.
    mutating func reset() { self = ReconnectDelay() }
}
