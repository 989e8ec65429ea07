import SystemSupport

/// Numbers of the upload and download rooms, with the defaults of uploads §0.
///
/// Sizes are bytes, times are milliseconds unless their name says otherwise.
public struct UploadSettings: Sendable {
    /// Largest length of one upload, inclusive.
    public var maxUploadSize: Int64 = 2_147_483_648
    /// Open uploads one owner may have.
    public var maxOpenUploadsPerOwner = 200
    /// Longest pause between two bytes of a body.
    public var bodyIdleTimeout: Int64 = 60_000
    /// Lowest rate of a body in bytes a second, judged after ``minRateGrace``; 0 turns it off.
    public var minRate: Int64 = 240
    /// How long the rate is not judged.
    public var minRateGrace: Int64 = 60_000
    /// A long request makes its bytes durable at least this often, by bytes …
    public var commitBytes: Int64 = 16 << 20
    /// … and by time.
    public var commitInterval: Int64 = 1000
    /// How long a newcomer waits for the old writer to let go.
    public var takeoverWait: Int64 = 10_000
    /// How long a request waits until another process, which receives the body, has committed what it has; one that
    /// is dead or stands still does not answer.
    public var peerReplyTimeout: Int64 = 2000
    /// How long a request waits for the end of finalizing.
    public var finalizeWait: Int64 = 30_000
    /// Life of an upload without a byte.
    public var createdTTL: Int64 = 24 * 3_600_000
    /// Life after the last durable progress.
    public var idleTTL: Int64 = 7 * 24 * 3_600_000
    /// Life from creation, whatever happens.
    public var absoluteTTL: Int64 = 30 * 24 * 3_600_000
    /// How long ended uploads are remembered.
    public var tombstoneTTL: Int64 = 7 * 24 * 3_600_000
    /// Life of a finished content that no message needs.
    public var unusedTTL: Int64 = 30 * 24 * 3_600_000
    /// How often the sweeper runs; 0 turns it off.
    public var sweepInterval: Int64 = 600_000
    /// Never given out to uploads; `nil` is the larger of 1 GiB and 5 % of the volume.
    public var diskHeadroom: Int64?
    /// Bytes one application may hold, finished and promised; `nil` is no limit of its own.
    public var applicationQuota: Int64?
    /// What an upload of unknown length is counted as.
    public var unknownReservation: Int64 = 64 << 20
    /// Memory one request uses for its body, in two halves.
    public var bufferSize = 256 << 10
    /// Most bytes that one request gets through, because of what stands before us; `nil` when nothing
    /// does. It is announced (§7.4) and not judged here.
    public var maxAppendSize: Int64?
    /// When `104` tells a client where to resume (§7.5).
    public var interim104 = Interim104.auto
    /// Durable bytes between two `104` that tell how far an upload has come.
    public var progress104Bytes: Int64 = 16 << 20
    /// Origins whose pages may use the URLs; `*` is every origin, without credentials.
    public var allowedOrigins = ["*"]
    /// URL of the page that explains errors by their ids; `url` of an error in JSON is a fragment of it (ruling 32).
    public var errorPage = "/docs/errors"
    /// Life of a signed download URL, rounded up to a quarter of an hour; never below half an hour.
    public var downloadURLTTL: Int64 = 2 * 3_600_000
    /// How long an expired download URL still works, for clocks that differ.
    public var downloadLeeway: Int64 = 60_000
    /// Ranges honoured in one request, after merging.
    public var maxRanges = 8

    /// When a client is sent `104`: some proxies take it for the answer, or drop it.
    public enum Interim104: String, Sendable, CaseIterable {
        /// When no configured proxy stands between.
        case auto
        /// Always.
        case on
        /// Never.
        case off
    }

    /// All defaults.
    public init() {}

    /// `Upload-Limit` as it holds for every upload (§7.4).
    var limits: String {
        "max-size=\(maxUploadSize)" + (maxAppendSize.map { ", max-append-size=\($0)" } ?? "")
    }
}

/// Time, handed in so that tests need not wait.
public struct UploadClock: Sendable {
    /// Milliseconds since 1970 UTC.
    public let now: @Sendable () -> Int64
    /// Waits that many milliseconds; returns early when its task is cancelled.
    public let sleep: @Sendable (Int64) async -> Void

    /// Makes a clock, which really waits unless it is told how else.
    public init(
        now: @escaping @Sendable () -> Int64, sleep: (@Sendable (Int64) async -> Void)? = nil
    ) {
        self.now = now
        self.sleep = sleep ?? pause(milliseconds:)
    }

    /// Whether what nobody knows is left over. What is younger than an hour may belong to an upload that
    /// is just beginning, or to a commit that is just made.
    func isOrphaned(since moment: Int64) -> Bool { now() - moment > 3_600_000 }
}
