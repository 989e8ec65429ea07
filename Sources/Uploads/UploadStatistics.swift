internal import Locking

/// What has become of uploads since the start.
public struct UploadStatistics: Sendable, Hashable {
    /// Uploads that take octets; counted when asked.
    public internal(set) var open = 0
    /// Octets that have become durable.
    public internal(set) var received: Int64 = 0
    /// How often octets were made durable; each cost a sync of the disk.
    public internal(set) var commits = 0
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
        /// Nobody wanted the content any more.
        case refused
        /// Its client gave it up.
        case cancelled
        /// Its time was up.
        case expired
    }

    /// A record was replaced by its successor, durably.
    mutating func count(_ last: UploadRecord, _ next: UploadRecord) {
        if next.offset > last.offset {
            received += next.offset - last.offset
            commits += 1
        }
        guard last.state != next.state, let end = End(next) else { return }
        ended[end, default: 0] += 1
    }
}

extension UploadStatistics.End {
    /// `nil` for an upload that has not ended.
    fileprivate init?(_ record: UploadRecord) {
        switch (record.state, record.failure) {
        case (.complete, _): self = .finished
        case (.failed, .digest): self = .digest
        case (.failed, .refused): self = .refused
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
        statistics.open = engine.ledger.withLock { ledger in ledger.openUploads }
        return statistics
    }
}
