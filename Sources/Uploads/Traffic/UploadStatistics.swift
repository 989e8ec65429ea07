internal import Locking

/// What has become of uploads since the start.
public struct UploadStatistics: Sendable, Hashable {
    /// What requests have come to, by the dialect they spoke.
    public internal(set) var traffic: [UploadDialect: UploadTraffic] = [:]
    /// Uploads that take octets, by the dialect that created them; counted when asked.
    public internal(set) var open: [UploadDialect: Int] = [:]
    /// Octets that are promised to them, likewise.
    public internal(set) var reserved: [UploadDialect: Int64] = [:]
    /// Uploads whose time was up, by the dialect that created them.
    public internal(set) var expired: [UploadDialect: Int] = [:]
    /// Contents whose octets were deleted because nobody needs them.
    public internal(set) var erased = 0
    /// How many octets that were.
    public internal(set) var erasedBytes: Int64 = 0
    /// Uploads that have ended, by how.
    public internal(set) var ended: [End: Int] = [:]

    /// How an upload ended.
    public enum End: String, Sendable, CaseIterable {
        /// It became a content.
        case finished
        /// Its octets had another digest than was declared.
        case digest
        /// Its octets were lost or damaged.
        case storage
        /// Nobody wanted the content any more, or more came than it has.
        case refused
        /// Its client gave it up.
        case cancelled
        /// Its time was up.
        case expired
    }

    /// A record was replaced by its successor, durably.
    mutating func count(_ last: UploadRecord, _ next: UploadRecord) {
        if next.offset > last.offset {
            traffic[UploadDialect.current, default: UploadTraffic()].committed +=
                next.offset - last.offset
            traffic[UploadDialect.current, default: UploadTraffic()].commits += 1
        }
        guard last.state != next.state, let end = End(next) else { return }
        ended[end, default: 0] += 1
        if end == .expired { expired[UploadDialect(next.creation), default: 0] += 1 }
    }
}

extension UploadStatistics.End {
    /// `nil` for an upload that has not ended.
    fileprivate init?(_ record: UploadRecord) {
        switch (record.state, record.failure) {
        case (.complete, _): self = .finished
        case (.failed, .digest): self = .digest
        case (.failed, .refused), (.failed, .quota), (.failed, .overflow): self = .refused
        case (.failed, _): self = .storage
        case (.cancelled, _): self = .cancelled
        case (.expired, _): self = .expired
        case (.created, _), (.receiving, _), (.finalizing, _): return nil
        }
    }
}

extension Uploads {
    /// What has become of uploads since the start, and how many are open.
    public var statistics: UploadStatistics {
        var statistics = engine.statistics.withLock { statistics in statistics }
        for (creation, promise) in engine.ledger.withLock({ ledger in ledger.promises }) {
            statistics.open[UploadDialect(creation)] = promise.uploads
            statistics.reserved[UploadDialect(creation)] = promise.bytes
        }
        return statistics
    }
}
