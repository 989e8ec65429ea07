/// A record was imported from another server (X10); no user caused it now.
public struct RecordImported: EventPayload {
    /// The record.
    public let record: ArchiveRecord

    /// All members.
    public init(record: ArchiveRecord) {
        self.record = record
    }

    /// The type of the event.
    public var type: EventType { .recordImported }
}
