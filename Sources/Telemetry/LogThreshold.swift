public import Logging
import Synchronization

/// The lowest level that is written, which may change while loggers use it (H196).
public final class LogThreshold: Sendable {
    private let number: Atomic<Int>

    /// Begins with a level.
    public init(_ level: Logger.Level) { number = Atomic(level.number) }

    /// The level now.
    public var level: Logger.Level { Logger.Level.allCases[number.load(ordering: .relaxed)] }

    /// Takes another level, for all entries from now on.
    public func set(_ level: Logger.Level) { number.store(level.number, ordering: .relaxed) }
}

extension Logger.Level {
    /// Its place among all levels.
    fileprivate var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
