internal import HTTP
internal import Locking

/// What the requests of one dialect have come to since the start (§11.11).
public struct UploadTraffic: Sendable, Hashable {
    /// Answers by the number of their status; 0 for requests that were given none.
    public internal(set) var requests: [Int: Int] = [:]
    /// Octets of bodies that were read, those of dropped overlaps as well.
    public internal(set) var received: Int64 = 0
    /// Octets that have become durable.
    public internal(set) var committed: Int64 = 0
    /// How often octets were made durable; each cost a sync of the disk.
    public internal(set) var commits = 0
    /// How often a request made an older one let go of its upload.
    public internal(set) var takeovers = 0
    /// How often bytes went on behind an interruption.
    public internal(set) var resumes = 0
    /// Octets that were held already when they came.
    public internal(set) var overlap: Int64 = 0
    /// Digests that were not those stated, of a body or of a whole content.
    public internal(set) var checksumFailures = 0
}

extension UploadEngine {
    /// Counts something on behalf of the request that is being answered.
    func count(_ change: (inout UploadTraffic) -> Void) {
        count(UploadDialect.current, change)
    }

    /// Counts something on behalf of a dialect.
    func count(_ dialect: UploadDialect, _ change: (inout UploadTraffic) -> Void) {
        statistics.withLock { statistics in
            change(&statistics.traffic[dialect, default: UploadTraffic()])
        }
    }

    /// Counts what came of a body.
    func count(_ arrival: Arrival, of append: Append, from offset: Int64) {
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
    func counted(_ answer: Answer, as dialect: UploadDialect) -> Answer {
        let engine = engine
        switch answer.outcome {
        case .response(let response):
            engine.count(dialect) { traffic in traffic.count(response) }
            return answer
        case .work(let policy, let work):
            return Answer(answer.route, policy) { body in
                await UploadDialect.$current.withValue(dialect) {
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
