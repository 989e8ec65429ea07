internal import Blobs
internal import SystemSupport

/// An upload in a list for operators.
public struct ListedUpload: Sendable, Equatable {
    /// The id of the resulting content.
    public let content: String
    /// The owner.
    public let owner: UploadOwner
    /// The protocol that created it.
    public let creation: UploadProtocol
    /// The state, a ``UploadQuery/State`` other than `open`.
    public let state: String
    /// Durable leading bytes.
    public let received: Int64
    /// The length of the content; `nil` while unknown.
    public let length: Int64?
    /// Bytes per second of the last commit; `nil` if this process has committed none within ten seconds.
    public let rate: Double?
    /// When the last bytes became durable, or the upload was created, in milliseconds since 1970.
    public let lastProgressAt: Int64
    /// When it expires, or, if it has ended, when its record is deleted, in milliseconds since 1970.
    public let expiresAt: Int64
    /// Why it failed: `digest`, `storage_lost`, `refused`, `quota` or `overflow`; `nil` if it has not failed.
    public let failure: String?

    init(_ record: UploadRecord, rate: Double?) {
        content = record.contentID
        owner = record.owner
        creation = record.creation
        state = record.state.name
        received = record.offset
        length = record.length
        self.rate = rate
        lastProgressAt = record.lastProgressAt
        expiresAt = record.expiresAt
        failure = record.failure.map { failure in failure.name }
    }
}

extension FailureReason {
    fileprivate var name: String {
        switch self {
        case .digest: "digest"
        case .storageLost: "storage_lost"
        case .refused: "refused"
        case .quota: "quota"
        case .overflow: "overflow"
        }
    }
}

/// Which uploads to list.
public struct UploadQuery: Sendable {
    /// A state, or several.
    public enum State: String, CaseIterable, Sendable {
        /// The upload accepts bytes: `created` or `receiving`.
        case open
        // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
        case created, receiving, finalizing, complete, failed, cancelled, expired

        /// Whether uploads with the state accept bytes.
        fileprivate var isOpen: Bool { self == .open || self == .created || self == .receiving }

        fileprivate func includes(_ state: UploadState) -> Bool {
            self == .open ? state.isOpen : state.name == rawValue
        }
    }

    /// The application; `nil` for all.
    public var application: String?
    /// The state.
    public var state = State.open
    /// The content of the last upload of the previous page; `nil` for the first page.
    public var after: String?
    /// The maximum number of uploads, at least 1.
    public var limit: Int

    /// The open uploads of all applications.
    public init(limit: Int) { self.limit = limit }
}

/// A page of a list of uploads, by descending content id.
public struct UploadPage: Sendable {
    /// The uploads.
    public fileprivate(set) var uploads: [ListedUpload] = []
    /// The content of the last upload that was examined, if the search ended before it had a full page, or all.
    public fileprivate(set) var searchedTo: String?
}

/// A record in a list.
struct UploadListEntry: Sendable {
    let name: BlobName
    let content: String
    /// `nil` if it was deleted meanwhile.
    let record: UploadRecord?
}

extension Uploads {
    /// The number of records that are read at once, and the maximum number for one page.
    private static let (chunkSize, searchLimit) = (100, 10_000)

    /// Lists uploads. A search for a rare state ends after 10,000 records or 50 ms.
    ///
    /// - Throws: When records could not be read (``UploadError/busy``, ``UploadError/backend``).
    public func list(_ query: UploadQuery) async throws(UploadError) -> UploadPage {
        let end = ContinuousClock.now.advanced(by: .milliseconds(50))
        var (page, last, examined) = (UploadPage(), query.after, 0)
        while true {
            let chunk: [UploadListEntry]
            do throws(StorageError) {
                chunk = try await engine.records.list(
                    query.application, isOpen: query.state.isOpen, after: last,
                    limit: Self.chunkSize)
            } catch {
                throw UploadError(error)
            }
            for entry in chunk {
                guard let record = entry.record, query.state.includes(record.state) else {
                    continue
                }
                let now = engine.clock.now()
                let rate = engine.ledger.withLock { ledger in ledger.rate(of: entry.name, at: now) }
                page.uploads.append(ListedUpload(record, rate: rate))
                if page.uploads.count == query.limit { return page }
            }
            examined += chunk.count
            guard chunk.count == Self.chunkSize, let content = chunk.last?.content else {
                return page
            }
            last = content
            guard examined < Self.searchLimit, ContinuousClock.now < end else {
                page.searchedTo = content
                return page
            }
        }
    }
}
