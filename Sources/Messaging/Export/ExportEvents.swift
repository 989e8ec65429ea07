/// The public key for exports was set.
public struct ExportKeyChanged: EventPayload {
    /// The new key.
    public let key: ExportKey

    /// All members.
    public init(key: ExportKey) {
        self.key = key
    }

    /// The type of the event.
    public var type: EventType { .exportKeyChanged }
}

/// The schedule of daily exports was changed.
public struct ExportScheduleChanged: EventPayload {
    /// The new schedule.
    public let schedule: ExportSchedule

    /// All members.
    public init(schedule: ExportSchedule) {
        self.schedule = schedule
    }

    /// The type of the event.
    public var type: EventType { .exportScheduleChanged }
}

/// An export was requested by a client or by the schedule.
public struct ExportRequested: EventPayload {
    /// The export.
    public let export: Export
    /// The schedule after a scheduled export; `nil` for one that a client requested.
    public let schedule: ExportSchedule?

    /// All members.
    public init(export: Export, schedule: ExportSchedule?) {
        self.export = export
        self.schedule = schedule
    }

    /// The type of the event.
    public var type: EventType { .exportRequested }
}

/// The server started to write an export, possibly again.
public struct ExportStarted: EventPayload {
    /// The export.
    public let export: Export.ID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(export: Export.ID, at: Timestamp) {
        self.export = export
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .exportStarted }
}

/// The archive of an export is complete.
public struct ExportCompleted: EventPayload {
    /// The export.
    public let export: Export.ID
    /// The archive.
    public let archive: Export.Archive
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(export: Export.ID, archive: Export.Archive, at: Timestamp) {
        self.export = export
        self.archive = archive
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .exportCompleted }
}

/// An export was deleted; its archive is erased later.
public struct ExportDeleted: EventPayload {
    /// The export.
    public let export: Export.ID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(export: Export.ID, at: Timestamp) {
        self.export = export
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .exportDeleted }
}

/// An export expired; its archive is erased later.
public struct ExportExpired: EventPayload {
    /// The export.
    public let export: Export.ID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(export: Export.ID, at: Timestamp) {
        self.export = export
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .exportExpired }
}

/// The archive of a deleted or expired export was erased.
public struct ExportErased: EventPayload {
    /// The export.
    public let export: Export.ID

    /// All members.
    public init(export: Export.ID) {
        self.export = export
    }

    /// The type of the event.
    public var type: EventType { .exportErased }
}
