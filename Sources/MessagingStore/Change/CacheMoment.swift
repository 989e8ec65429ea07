import Messaging
import SQL

/// The state of the database that a read sees, to compare cached messages with it.
public struct CacheMoment: Sendable {
    let clock: InvalidationClock
    let application: Application.ID
    /// The time up to which the read sees every change; `nil` if unknown.
    let time: UInt64?

    /// Returns for each cached message whether the read would return the same.
    public func areValid(_ messages: [CacheValidity]) -> [Bool] {
        guard let time else { return messages.map { _ in false } }
        return clock.areUnchanged(messages, at: time, in: application)
    }

    /// The validity of a message that the read returns.
    func validity(of message: Message, seenBy perspective: Perspective) -> CacheValidity? {
        time.map { time in
            CacheValidity(message, seenBy: perspective, readAfter: time, in: application)
        }
    }
}

extension Transaction {
    /// The moment of this read. If other processes may change the database, their changes are taken from the
    /// log first.
    ///
    /// - Parameter earlier: A time before the read.
    func moment(
        of clock: InvalidationClock, from earlier: UInt64, in application: Application.ID
    ) throws -> CacheMoment {
        CacheMoment(
            clock: clock, application: application,
            time: clock.isAlone
                ? earlier : try follow(clock, readAfter: earlier, in: application))
    }

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

    /// The most positions to read. A process that is further back has little in its cache that is still valid.
    private static var followedAtOnce: Int64 { 4096 }

    /// What the events between two positions change; `nil` if there are events of a newer release.
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
