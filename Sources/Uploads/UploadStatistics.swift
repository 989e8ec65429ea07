internal import HTTP
internal import SystemSupport

/// What has become of uploads since the start.
public struct UploadStatistics: Sendable, Hashable {
    /// What requests have come to, by the dialect they spoke.
    public internal(set) var traffic: [UploadProtocol: UploadTraffic] = [:]
    /// Uploads that take bytes, by the dialect that created them; counted when asked.
    public internal(set) var open: [UploadProtocol: Int] = [:]
    /// Bytes that are promised to them, likewise.
    public internal(set) var reserved: [UploadProtocol: Int64] = [:]
    /// Uploads whose time was up, by the dialect that created them.
    public internal(set) var expired: [UploadProtocol: Int] = [:]
    /// Contents whose bytes were deleted because nobody needs them.
    public internal(set) var erased = 0
    /// How many bytes that were.
    public internal(set) var erasedBytes: Int64 = 0
    /// Uploads that have ended, by how.
    public internal(set) var ended: [End: Int] = [:]

    /// How an upload ended.
    public enum End: String, Sendable, CaseIterable {
        /// It became a content.
        case finished
        /// Its bytes had another digest than was declared.
        case digest
        /// Its bytes were lost or damaged.
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
            traffic[UploadProtocol.current, default: UploadTraffic()].committed +=
                next.offset - last.offset
            traffic[UploadProtocol.current, default: UploadTraffic()].commits += 1
        }
        guard last.state != next.state, let end = End(next) else { return }
        ended[end, default: 0] += 1
        if end == .expired { expired[next.creation, default: 0] += 1 }
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
            statistics.open[creation] = promise.uploads
            statistics.reserved[creation] = promise.bytes
        }
        return statistics
    }
}

/// What the requests of one dialect have come to since the start (§11.11).
public struct UploadTraffic: Sendable, Hashable {
    /// Answers by the number of their status; 0 for requests that were given none.
    public internal(set) var requests: [Int: Int] = [:]
    /// Bytes of bodies that were read, those of dropped overlaps as well.
    public internal(set) var received: Int64 = 0
    /// Bytes that have become durable.
    public internal(set) var committed: Int64 = 0
    /// How often bytes were made durable; each cost a sync of the disk.
    public internal(set) var commits = 0
    /// How often a request made an older one let go of its upload.
    public internal(set) var takeovers = 0
    /// How often bytes went on behind an interruption.
    public internal(set) var resumes = 0
    /// Bytes that were held already when they came.
    public internal(set) var overlap: Int64 = 0
    /// Digests that were not those stated, of a body or of a whole content.
    public internal(set) var checksumFailures = 0
}

extension UploadEngine {
    /// Counts something on behalf of the request that is being answered.
    func count(_ change: (inout UploadTraffic) -> Void) {
        count(UploadProtocol.current, change)
    }

    /// Counts something on behalf of a dialect.
    func count(_ dialect: UploadProtocol, _ change: (inout UploadTraffic) -> Void) {
        statistics.withLock { statistics in
            change(&statistics.traffic[dialect, default: UploadTraffic()])
        }
    }

    /// Counts what came of a body.
    func count(_ arrival: ReceivedBody, of append: AppendRequest, from offset: Int64) {
        let received = arrival.transfer.position - append.first
        let written = arrival.transfer.written - offset
        count { traffic in
            traffic.received += received
            traffic.overlap += received - written
        }
    }
}

extension Uploads {
    /// Counts an answer, and everything behind it on its dialect's behalf.
    func counted(_ answer: Answer, as dialect: UploadProtocol) -> Answer {
        let engine = engine
        switch answer.outcome {
        case .response(let response):
            engine.count(dialect) { traffic in traffic.count(response) }
            return answer
        case .work(let policy, let work):
            return Answer(answer.route, policy) { body in
                await UploadProtocol.$current.withValue(dialect) {
                    let response = await work(body)
                    engine.count { traffic in traffic.count(response) }
                    return response
                }
            }
        case .upgrade: return answer
        }
    }
}

extension UploadTraffic {
    fileprivate mutating func count(_ response: Response) {
        let status = if case .drop = response.ending { 0 } else { response.status.code }
        requests[status, default: 0] += 1
    }
}
