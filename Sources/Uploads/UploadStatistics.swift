internal import HTTP
internal import SystemSupport

/// Counts of uploads since the start.
public struct UploadStatistics: Sendable, Hashable {
    /// Requests and bytes, by the protocol of the request.
    public internal(set) var traffic: [UploadProtocol: UploadTraffic] = [:]
    /// Open uploads, by the protocol that created them; counted on request.
    public internal(set) var open: [UploadProtocol: Int] = [:]
    /// Bytes reserved for them, likewise.
    public internal(set) var reserved: [UploadProtocol: Int64] = [:]
    /// Expired uploads, by the protocol that created them.
    public internal(set) var expired: [UploadProtocol: Int] = [:]
    /// Content whose bytes were deleted because it was unused.
    public internal(set) var erased = 0
    /// The number of those bytes.
    public internal(set) var erasedBytes: Int64 = 0
    /// The last run of the sweeper in this process; `nil` before it.
    public internal(set) var lastSweep: UploadSweep?
    /// Ended uploads, by how they ended.
    public internal(set) var ended: [End: Int] = [:]

    /// How an upload ended.
    public enum End: String, Sendable, CaseIterable {
        /// It became content.
        case finished
        /// Its digest was not the declared one.
        case digest
        /// Its bytes were lost or damaged.
        case storage
        /// The content was refused, or more bytes arrived than its length.
        case refused
        /// Its client cancelled it.
        case cancelled
        /// It expired.
        case expired
    }

    /// Counts the durable replacement of a record.
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

/// What a run of the sweeper has deleted.
public struct UploadSweep: Sendable, Hashable {
    /// The number of contents that nothing used.
    public let contents: Int
    /// The number of their bytes.
    public let bytes: Int64
    /// When it ended, in milliseconds since 1970.
    public let endedAt: Int64
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
    /// Counts of uploads since the start, and of open uploads.
    public var statistics: UploadStatistics {
        var statistics = engine.statistics.withLock { statistics in statistics }
        for (creation, reservation) in engine.ledger.withLock({ ledger in ledger.reservations }) {
            statistics.open[creation] = reservation.uploads
            statistics.reserved[creation] = reservation.bytes
        }
        return statistics
    }
}

/// Counts of the requests of one protocol since the start (§11.11).
public struct UploadTraffic: Sendable, Hashable {
    /// Responses by status; 0 for requests that got none.
    public internal(set) var requests: [Int: Int] = [:]
    /// Bytes of bodies that were read, including skipped overlaps.
    public internal(set) var received: Int64 = 0
    /// Bytes that became durable.
    public internal(set) var committed: Int64 = 0
    /// Commits of bytes; each costs one sync of the disk.
    public internal(set) var commits = 0
    /// Requests that took over from an older one.
    public internal(set) var takeovers = 0
    /// Requests that resumed after an interruption.
    public internal(set) var resumes = 0
    /// Received bytes that were stored already.
    public internal(set) var overlap: Int64 = 0
    /// Digests of bodies or of whole content that did not match.
    public internal(set) var checksumFailures = 0
}

extension UploadEngine {
    /// Counts under the protocol of the request that is being answered.
    func count(_ change: (inout UploadTraffic) -> Void) {
        count(UploadProtocol.current, change)
    }

    /// Counts under a protocol.
    func count(_ uploadProtocol: UploadProtocol, _ change: (inout UploadTraffic) -> Void) {
        statistics.withLock { statistics in
            change(&statistics.traffic[uploadProtocol, default: UploadTraffic()])
        }
    }

    /// Counts the bytes of a body.
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
    /// Counts a response, and everything that its handler counts, under a protocol.
    func counted(_ answer: Answer, as uploadProtocol: UploadProtocol) -> Answer {
        let engine = engine
        switch answer.outcome {
        case .response(let response):
            engine.count(uploadProtocol) { traffic in traffic.count(response) }
            return answer
        case .work(let policy, let work):
            return Answer(answer.route, policy) { body in
                await UploadProtocol.$current.withValue(uploadProtocol) {
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
