import Messaging
import SQL

/// The state of the database that a read sees; cached messages are compared with it.
public struct CacheMoment: Sendable {
    let clock: InvalidationClock
    let application: Application.ID
    /// The time of the clock up to which the read sees every change; `nil` if unknown.
    let time: UInt64?

    /// Returns for each cached message whether the read would return the same.
    public func areValid(_ messages: [CacheValidity]) -> [Bool] {
        guard let time else { return messages.map { _ in false } }
        return clock.areUnchanged(messages, at: time, in: application)
    }

    /// The validity of a message that the read returns; `nil` if it must not be cached.
    func validity(of message: Message, seenBy perspective: Perspective) -> CacheValidity? {
        time.map { time in
            CacheValidity(message, seenBy: perspective, readAfter: time, in: application)
        }
    }
}

extension Transaction {
    /// The moment of this read. If other processes may change the database, the clock is first updated
    /// from the log.
    ///
    /// - Parameter earlier: A time of the clock that was taken before the read began.
    func moment(
        of clock: InvalidationClock, from earlier: UInt64, in application: Application.ID
    ) throws -> CacheMoment {
        CacheMoment(
            clock: clock, application: application,
            time: clock.isAlone
                ? earlier : try follow(clock, readAfter: earlier, in: application))
    }

    /// Dates the changes in the log, which all processes write, that are not dated yet.
    ///
    /// - Returns: The time up to which this read sees every change; `nil` if unknown.
    private func follow(
        _ clock: InvalidationClock, readAfter earlier: UInt64, in application: Application.ID
    ) throws -> UInt64? {
        let extent = try logExtent(in: application)
        guard let last = clock.position(in: application), last >= extent.trimmed,
            extent.end.number - last.number <= Self.followedAtOnce,
            let changes = try changes(after: last, through: extent.end, in: application)
        else { return clock.restart(at: extent.end, in: application) }
        return clock.follow(
            changes, after: last, through: extent.end, readAfter: earlier, in: application)
    }

    /// The maximum number of positions to read. Of a process that is further behind, few cached messages are still
    /// valid.
    private static var followedAtOnce: Int64 { 4096 }

    /// The objects that the events between two positions change; `nil` if this release cannot read one of the events.
    private func changes(
        after first: LogPosition, through last: LogPosition, in application: Application.ID
    ) throws -> [InvalidationSubject]? {
        guard first < last else { return [] }
        // Sending changes no earlier message.
        let found = try rows(
            """
            SELECT kind, payload FROM events
            WHERE application = \(application) AND position > \(first) AND position <= \(last)
                AND kind <> \(EventType.messageSent.rawValue)
            """
        ) { row -> [InvalidationSubject]? in
            guard let event = try? Event(type: row.text(0), encoded: row.blob(1)) else {
                return nil
            }
            return event.stored.invalidated(in: application)
        }
        let known = found.compactMap(\.self)
        return known.count == found.count ? known.flatMap(\.self) : nil
    }
}
