public import HTTP
import SystemSupport

/// The settings of uploads and downloads, with the defaults of uploads §0.
///
/// Sizes are in bytes and times in milliseconds, unless the name says otherwise.
public struct UploadSettings: Sendable {
    /// Maximum length of one upload, inclusive.
    public var maxUploadSize: Int64 = 2_147_483_648
    /// How many open uploads one owner may have.
    public var maxOpenUploadsPerOwner = 200
    /// Longest pause between two bytes of a body.
    public var bodyIdleTimeout: Int64 = 60_000
    /// Lowest rate of a body in bytes per second, checked after ``minRateGrace``; 0 disables the check.
    public var minRate: Int64 = 240
    /// How long the rate is not checked.
    public var minRateGrace: Int64 = 60_000
    /// Bytes after which a running request commits what it has received.
    public var commitBytes: Int64 = 16 << 20
    /// Time after which a running request commits what it has received.
    public var commitInterval: Int64 = 1000
    /// How long a newer request waits for the running writer to stop.
    public var takeoverWait: Int64 = 10_000
    /// How long a request waits for the process that receives the body to commit what it has received; a
    /// crashed or stopped process never replies.
    public var peerReplyTimeout: Int64 = 2000
    /// How long a request waits for an upload that is being finished.
    public var finalizeWait: Int64 = 30_000
    /// Lifetime of an upload without a byte.
    public var createdTTL: Int64 = 24 * 3_600_000
    /// Lifetime after the last durable progress.
    public var idleTTL: Int64 = 7 * 24 * 3_600_000
    /// Lifetime from creation, regardless of progress; it also bounds the other two.
    public var absoluteTTL: Int64 = 30 * 24 * 3_600_000
    /// The lifetime of a new upload.
    var firstLifetime: Int64 { min(createdTTL, absoluteTTL) }
    /// How long records of ended uploads are kept.
    public var tombstoneTTL: Int64 = 7 * 24 * 3_600_000
    /// Lifetime of finished content that no message uses.
    public var unusedTTL: Int64 = 30 * 24 * 3_600_000
    /// How often the sweeper runs; 0 disables it.
    public var sweepInterval: Int64 = 600_000
    /// Disk space that uploads never use; `nil` is the larger of 1 GiB and 5 % of the volume.
    public var diskHeadroom: Int64?
    /// Bytes one application may store, finished and reserved; `nil` for no limit.
    public var applicationQuota: Int64?
    /// The reservation of an upload of unknown length.
    public var unknownReservation: Int64 = 64 << 20
    /// Memory of one request for its body, in two halves.
    public var bufferSize = 256 << 10
    /// Maximum body size that proxies in front of this server allow; `nil` for no limit. It is announced (§7.4) and
    /// not checked here.
    public var maxAppendSize: Int64?
    /// When `104` responses are sent (§7.5).
    public var interim104 = Interim104.auto
    /// Durable bytes between two `104` responses that report progress.
    public var progress104Bytes: Int64 = 16 << 20
    /// Origins whose pages may use the URLs; `*` is every origin, without credentials.
    public var allowedOrigins = ["*"]
    /// Path of the page that explains errors by their ids; `url` of a JSON error is a fragment of it (ruling 32).
    public var errorPath = "/docs/errors"
    /// Base of the page's URL.
    public var errorBase: PublicBaseURL = ""
    /// Validity of a signed download URL, rounded up to a quarter of an hour; at least half an hour.
    public var downloadURLTTL: Int64 = 2 * 3_600_000
    /// How long an expired download URL still works, for clocks that differ.
    public var downloadLeeway: Int64 = 60_000
    /// Maximum number of ranges in one request, after merging.
    public var maxRanges = 8

    /// When a client is sent `104`: some proxies treat it as the final response, or drop it.
    public enum Interim104: String, Sendable, CaseIterable {
        /// When no configured proxy is in between.
        case auto
        /// Always.
        case on
        /// Never.
        case off
    }

    /// The defaults.
    public init() {}

    /// URL of the page that explains errors, in the response to a request.
    func errorPage(for request: Request) -> String { errorBase.of(request) + errorPath }

    /// The value of `Upload-Limit` that holds for every upload (§7.4).
    var limits: String {
        "max-size=\(maxUploadSize)" + (maxAppendSize.map { ", max-append-size=\($0)" } ?? "")
    }
}

/// The clock, replaceable so that tests need not wait.
public struct UploadClock: Sendable {
    /// Milliseconds since 1970 UTC.
    public let now: @Sendable () -> Int64
    /// Waits that many milliseconds; returns early when its task is cancelled.
    public let sleep: @Sendable (Int64) async -> Void

    /// Creates a clock that really waits, unless `sleep` is given.
    public init(
        now: @escaping @Sendable () -> Int64, sleep: (@Sendable (Int64) async -> Void)? = nil
    ) {
        self.now = now
        self.sleep = sleep ?? pause(milliseconds:)
    }

    /// Whether a leftover of that time may be deleted. Younger ones, of less than an hour, may belong to an upload
    /// that is just being created, or to a running commit.
    func isOrphaned(since moment: Int64) -> Bool { now() - moment > 3_600_000 }
}
