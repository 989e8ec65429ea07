import Blobs
import Bytes
import FoundationEssentials
import Glibc
import HTTP
import ObjectStore
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

/// An upload module on a real disk, with a manual clock and a recording finisher.
final class UploadFixture: Sendable {
    static let content = "0190aaaa-0000-7000-8000-000000000001"

    /// Another content, for tests that need several.
    static func content(number: Int) -> String { "0190bbbb-0000-7000-8000-00000000000\(number)" }

    let temporary = TemporaryFolder()
    private let path: String
    let finisher = RecordingFinisher()
    let time = Locked<Int64>(1_900_000_000_000)
    let settings: UploadSettings
    /// Where contents are stored; `nil` for the local disk.
    let bucket: ContentBucket?

    /// The storage of tests that do not choose one: the disk, a `bucket`, or a bucket `shared`
    /// with other processes. `make test` runs them on each.
    private static let preference = ProcessInfo.processInfo.environment["PARLEY_TEST_STORAGE"]
    static var preferredBucket: ContentBucket? {
        switch preference {
        case "bucket": .scratch()
        case "shared": .scratch(registry: InMemoryRegistry())
        default: nil
        }
    }
    /// Whether tests that do not choose a storage have records in a folder, which some inspect.
    static let keepsRecords = preference != "shared"

    /// - Parameters:
    ///   - volume: The folder of all files; a temporary folder by default.
    ///   - bucket: Where contents are stored.
    init(
        on volume: String? = nil, bucket: ContentBucket? = preferredBucket,
        _ change: (inout UploadSettings) -> Void = { _ in }
    ) {
        self.bucket = bucket
        path = "\(volume ?? temporary.path)/uploads"
        var settings = UploadSettings()
        settings.sweepInterval = 0
        settings.diskHeadroom = 0
        // Longer than a busy machine needs that runs all tests at once.
        settings.peerReplyTimeout = 60_000
        settings.errorBase = "https://chat.example"
        change(&settings)
        self.settings = settings
    }

    /// A manual clock, on which sleeps never end.
    var clock: UploadClock {
        let time = time
        return UploadClock(
            now: { time.withLock { $0 } },
            sleep: { _ in await UploadFixture.sleepForever() })
    }

    /// A clock on which short sleeps end at once and long ones never.
    static func fastClock(upTo limit: Int64) -> UploadClock {
        UploadClock(
            now: { 0 },
            sleep: { milliseconds in
                await Task.yield()
                if milliseconds > limit { await sleepForever() }
            })
    }

    /// Sleeps until the task is cancelled, without polling: modules of finished tests sleep on.
    private static func sleepForever() async {
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    }

    /// Opens the module; a second call is a restart after a crash, because nothing was shut down.
    func open() async throws -> Uploads {
        let uploads = try await Uploads(
            folder: path, settings: settings, finisher: finisher,
            clock: clock, publicBase: "https://chat.example", bucket: bucket)
        (bucket?.registry as? InMemoryRegistry)?.listeners.withLock { listeners in
            listeners.append { [weak uploads] request, name, holder in
                uploads?.answer(request, for: name, at: String(hexadecimal: holder))
            }
        }
        return uploads
    }

    /// Opens the module again as a server without a bucket would.
    func openOnDisk() async throws -> Uploads {
        try await Uploads(
            folder: path, settings: settings, finisher: finisher,
            clock: clock, publicBase: "https://chat.example")
    }

    /// The module's folder.
    var folder: String { path }

    func pass(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }

    /// The staged file, which tests change behind the module's back.
    var stagedPath: String { "\(path)/blobs/staged/\(UploadFixture.content)" }

    static func draft(
        length: Int64?, mediaType: String? = "image/png", origin: String? = nil
    ) -> UploadDraft {
        UploadDraft(
            owner: UploadOwner(application: "app", conversation: "conversation"),
            contentID: content, mediaType: mediaType, length: length, fileName: "a.png",
            origin: origin)
    }
}

/// Records finished uploads, and fails on demand.
final class RecordingFinisher: UploadFinisher {
    enum Behaviour: Sendable { case takes, refuses, breaks, takesAndBreaks, waits }

    let finished = Locked<[FinishedUpload]>([])
    let behaviour = Locked(Behaviour.takes)
    let isUsed = Locked(false)

    struct Broken: Error {}

    func finished(_ upload: FinishedUpload, within quota: Int64?) async throws {
        switch behaviour.withLock({ $0 }) {
        case .takes: try take(upload, within: quota)
        case .refuses: throw ContentRefused()
        case .breaks: throw Broken()
        case .takesAndBreaks:
            try take(upload, within: quota)
            throw Broken()
        case .waits:
            while behaviour.withLock({ $0 == .waits }) { await pause(milliseconds: 1) }
            try take(upload, within: quota)
        }
    }

    private func take(_ upload: FinishedUpload, within quota: Int64?) throws {
        try finished.withLock { finished in
            let others = bytes(finished, of: upload.owner.application, besides: upload.contentID)
            guard others + upload.content.size <= quota ?? .max else { throw QuotaExceeded() }
            finished.append(upload)
        }
    }

    private func bytes(
        _ uploads: [FinishedUpload], of application: String, besides content: String?
    ) -> Int64 {
        uploads.filter { $0.owner.application == application && $0.contentID != content }
            .reduce(0) { $0 + $1.content.size }
    }

    func withdraw(_ contentID: String) async throws -> Bool { isUsed.withLock { !$0 } }

    /// The contents that `abandoned` returns, and the time it was called with.
    let unneeded = Locked<[AbandonedContent]>([])
    let unusedSince = Locked<Int64?>(nil)

    func abandoned(unusedSince moment: Int64, limit: Int) async throws -> [AbandonedContent] {
        unusedSince.withLock { $0 = moment }
        return unneeded.withLock { Array($0.prefix(limit)) }
    }

    func erased(_ contents: [AbandonedContent]) async throws {
        unneeded.withLock { $0.removeAll { contents.contains($0) } }
    }

    func storedBytes(of application: String, besides contentID: String?) async throws -> Int64 {
        if behaviour.withLock({ $0 }) == .breaks { throw Broken() }
        return finished.withLock { bytes($0, of: application, besides: contentID) }
    }
}

extension Uploads {
    /// Sends one request through the module, as the transport would.
    func send(
        _ method: HTTP.Method, _ url: String, _ fields: [(name: String, value: String)] = [],
        _ body: ScriptedBody = ScriptedBody([])
    ) async -> Response {
        let path = url.hasPrefix("https://chat.example") ? String(url.dropFirst(20)) : url
        let framing: BodyFraming =
            switch body.length {
            case nil: .chunked
            case 0?: fields.contains { $0.name == "Content-Length" } ? .length(0) : .none
            case let length?: .length(length)
            }
        let request = Request(
            method: method, target: RequestTarget(path), fields: Fields(fields), framing: framing)
        switch answer(to: request, by: TestUploadAuthorizer()).outcome {
        case .response(let response): return response
        case .work(_, let work): return await work(body)
        case .upgrade(let upgrade): return Response(upgrade)
        }
    }

    /// A `PUT` with a `Content-Range`.
    func put(_ url: String, _ range: String, _ bytes: [UInt8] = []) async -> Response {
        await send(.put, url, [("Content-Range", range)], ScriptedBody(bytes))
    }

    /// The bytes of a complete content, from disk or bucket; `nil` when there are none.
    func bytes(of content: String) async -> [UInt8]? {
        guard let name = BlobName(content) else { return nil }
        do {
            var reader = try await contents.storage.open(name).reader()
            var bytes: [UInt8] = []
            while let piece = try await reader.next() { bytes += piece }
            return bytes
        } catch {
            return nil
        }
    }

    /// The offset that `HEAD` returns.
    func offset(_ url: String) async -> String? {
        await send(.head, url).fields["Upload-Offset"]
    }
}

/// Accepts every client with the right token.
struct TestUploadAuthorizer: UploadAuthorizer {
    static let key = (name: "Authorization", value: "Bearer right")

    func authorize(_ request: Request) async throws(UploadError) -> UploadAuthorization {
        switch request.fields["Authorization"] {
        case TestUploadAuthorizer.key.value:
            UploadAuthorization(
                owner: UploadOwner(application: request.fields["Test-Application"] ?? "app"),
                contentID: request.fields["Test-Content"] ?? UploadFixture.content,
                fields: [("Content-Name", "content 1")])
        case "Bearer reader": throw .forbidden
        default: throw .unauthenticated("The token is unknown.")
        }
    }
}

extension UploadEngine {
    /// Whether there is no record, in the folder or the registry.
    var hasNoRecord: Bool {
        get throws {
            if let local = records as? LocalUploadRecords {
                return try local.records.entries().isEmpty
            }
            return ((records as? SharedUploadRecords)?.registry as? InMemoryRegistry)?.all.isEmpty
                == true
        }
    }
}

extension Response {
    /// The content as text, if it is in memory.
    var text: String {
        if case .bytes(let bytes) = content { String(decoding: bytes, as: UTF8.self) } else { "" }
    }
}

extension UploadFixture {
    /// Replaces the open staged file by a device that accepts all further bytes and cannot be
    /// synced.
    func breakSync() {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        for number in open.compactMap({ Int32($0) }) {
            var name = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/fd/\(number)", &name, name.count)
            guard count > 0,
                String(decoding: name[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
                    == stagedPath
            else { continue }
            let device = Glibc.open("/dev/zero", O_RDWR | O_CLOEXEC)
            #expect(dup2(device, number) == number)
            close(device)
            return
        }
        Issue.record("the staged file is not open")
    }
}

extension ContentBucket {
    /// An unused prefix of the tests' bucket.
    ///
    /// - Parameters:
    ///   - fault: The fault to simulate, as named in `objectstore.py`.
    ///   - redirects: Whether downloads are sent to the store.
    ///   - registry: Stores records for several modules.
    static func scratch(
        _ fault: String? = nil, redirects: Bool = false, registry: InMemoryRegistry? = nil
    ) -> ContentBucket {
        guard let server = ObjectServer.shared else { preconditionFailure("no object store") }
        var settings = ObjectStoreSettings(
            endpoint: server.endpoint, region: ObjectServer.region, bucket: ObjectServer.bucket,
            prefix: ObjectServer.newPrefix() + (fault.map { fault in "\(fault)/" } ?? ""),
            credentials: Credentials(
                accessKey: ObjectServer.owner.key, secretKey: ObjectServer.owner.secret))
        settings.attempts = 2
        settings.firstWait = 1
        let clock = ObjectStoreClock(now: { Int64(Date().timeIntervalSince1970 * 1000) })
        do {
            return ContentBucket(
                try ObjectStore(settings, clock: clock), redirects: redirects,
                registry: registry, onFault: { error in print("the store: \(error)") })
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
