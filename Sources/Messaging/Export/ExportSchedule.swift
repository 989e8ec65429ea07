/// Whether and what an application is told of daily.
public struct ExportSchedule: Equatable, Sendable {
    /// How often.
    public enum Interval: String, CaseIterable, Sendable {
        case daily, disabled
    }

    /// How often.
    public let interval: Interval
    /// What of the log it asks for, in the order given.
    public let topics: [Topic]
    /// The place in the log behind which the next export begins.
    public let place: LogPosition
    /// When the next one is due; `nil` while disabled.
    public let nextAt: Timestamp?
    /// When the last one was asked for.
    public let lastAt: Timestamp?
    /// The last one.
    public let last: Export.ID?

    /// A schedule as stored.
    public init(
        interval: Interval, topics: [Topic], place: LogPosition, nextAt: Timestamp?,
        lastAt: Timestamp? = nil, last: Export.ID? = nil
    ) {
        self.interval = interval
        self.topics = topics
        self.place = place
        self.nextAt = nextAt
        self.lastAt = lastAt
        self.last = last
    }

    /// What holds until somebody says something.
    public static let none = ExportSchedule(
        interval: .disabled, topics: [], place: .start, nextAt: nil)

    /// A day, in milliseconds.
    private static let day: Int64 = 86_400_000

    /// Decides what a wish for another schedule means.
    ///
    /// One that runs already keeps its rhythm and its place, so changing its topics skips nothing.
    ///
    /// - Parameter place: The end of the log.
    public func changing(
        to interval: Interval, _ topics: [Topic], from place: LogPosition, at now: Timestamp
    ) -> ExportSchedule {
        let keeps = interval == .daily && self.interval == .daily
        let next = interval == .daily ? Timestamp(milliseconds: now.milliseconds + Self.day) : nil
        return ExportSchedule(
            interval: interval, topics: topics, place: keeps ? self.place : place,
            nextAt: keeps ? nextAt : next, lastAt: lastAt, last: last)
    }

    /// Decides how it goes on after an export that is due now; days nobody was there are skipped, as
    /// the next export holds them.
    ///
    /// - Parameter place: The end of the log, and of that export.
    public func following(
        _ export: Export.ID, through place: LogPosition, at now: Timestamp
    ) -> ExportSchedule {
        let next = nextAt.map { due in
            let missed = max(0, now.milliseconds - due.milliseconds) / Self.day
            return Timestamp(milliseconds: due.milliseconds + (missed + 1) * Self.day)
        }
        return ExportSchedule(
            interval: interval, topics: topics, place: place, nextAt: next, lastAt: now,
            last: export)
    }
}
