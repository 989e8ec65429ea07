import Blobs
import Bytes
import Glibc
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

/// One complete content, of 1,000 bytes by default, and a module to download it from.
final class DownloadFixture: DownloadCatalog {
    static let id = "0190aaaa-0000-7000-8000-000000000002"
    /// 100 seconds past a quarter of an hour.
    static let now: Int64 = 1_900_000_000_000

    let temporary = TemporaryFolder()
    let time = Locked(DownloadFixture.now)
    let asked = Locked(0)
    let bytes: [UInt8]
    let content: StoredContent
    let keys: SigningKeys
    private let settings: UploadSettings
    private let blobs: BlobFolder?
    private let contents: ContentRepository?

    /// - Parameter bucket: Where the content is stored; `nil` for the local disk.
    init(
        mediaType: String = "image/png", size: Int = 1000, fileName: String? = "a.png",
        md5: [UInt8]? = nil, knowsSHA512: Bool = false, origin: String? = nil,
        allowing origins: [String] = ["*"],
        in bucket: ContentBucket? = nil
    ) {
        bytes = patternBytes(size)
        content = StoredContent(
            mediaType: mediaType, size: Int64(size), sha256: SHA256.digest(of: bytes), md5: md5,
            sha512: knowsSHA512 ? SHA512.digest(of: bytes) : nil, crc32c: 1, fileName: fileName,
            completedAtMilliseconds: DownloadFixture.now + 123,
            origin: origin)
        var settings = UploadSettings()
        settings.allowedOrigins = origins
        self.settings = settings
        keys = (try? SigningKeys.random()) ?? SigningKeys(keys: [])
        let folder = temporary.path
        blobs = try? BlobFolder(at: "\(folder)/blobs")
        guard let blobs, let bucket else {
            contents = blobs.map { blobs in ContentRepository(blobs) }
            try? publish()
            return
        }
        contents = (try? JournalFolder(at: "\(folder)/parts")).map { journals in
            ContentRepository(
                BucketStorage(
                    bucket, blobs: blobs, journals: journals,
                    clock: UploadClock(now: { DownloadFixture.now }), longest: 1 << 31))
        }
    }

    var downloads: Downloads {
        let time = time
        guard let contents else { preconditionFailure("no temporary folder") }
        return Downloads(
            contents: contents, catalog: self, settings: settings, keys: keys,
            publicBase: "https://chat.example",
            clock: UploadClock(now: { time.withLock { $0 } }))
    }

    var tag: String { "\"\(String(hexadecimal: content.sha256))\"" }

    var url: String {
        downloads.signedURL(content: DownloadFixture.id, fileName: "a.png", at: DownloadFixture.now)
            .url
    }

    func content(_ id: String) async throws -> StoredContent? {
        asked.withLock { $0 += 1 }
        return id == DownloadFixture.id ? content : nil
    }

    func get(
        _ fields: [(name: String, value: String)] = [], method: HTTP.Method = .get
    ) async throws -> Response {
        await send(method, url, fields)
    }

    func send(
        _ method: HTTP.Method, _ url: String, _ fields: [(name: String, value: String)] = []
    ) async -> Response {
        await downloads.send(method, url, fields)
    }

    /// Replaces `TAG` by the content's entity tag.
    func replacingTag(_ fields: [(String, String)]) -> [(name: String, value: String)] {
        fields.map { field in
            let words = field.1.split(separator: " ").map { word in
                if word == "TAG" { return tag }
                return word == "W/TAG" ? "W/\(tag)" : String(word)
            }
            return (field.0, words.joined(separator: " "))
        }
    }

    /// The bytes that a client would receive.
    func bytes(_ response: Response) -> [UInt8] { bytes(response.content) }

    /// The same for a content that a task writes; `nil` when it is aborted or does not have its
    /// stated length.
    func streamedBytes(_ response: Response) async -> [UInt8]? {
        guard case .stream(let handler, let length) = response.content else { return nil }
        let bytes = await CapturingChannel.read(handler)
        return bytes.flatMap { bytes in Int64(bytes.count) == length ? bytes : nil }
    }

    private func bytes(_ content: Content) -> [UInt8] {
        switch content {
        case .none, .withheld, .stream: return []
        case .bytes, .pieces: return content.joinedBytes ?? []
        case .parts(let parts): return parts.flatMap(bytes)
        case .file(let file, let offset, let length):
            var bytes = [UInt8](repeating: 0, count: Int(length))
            let count = bytes.withUnsafeMutableBytes {
                pread(file.descriptor, $0.baseAddress, $0.count, Int(offset))
            }
            return Array(bytes.prefix(count))
        }
    }

    private func publish() throws {
        guard let blobs, let name = BlobName(DownloadFixture.id) else { return }
        let file = try blobs.stage(name)
        let bytes = bytes
        try file.write(bytes.span, at: 0)
        try file.commit()
        try blobs.publish(name)
    }
}

extension Downloads {
    /// Sends one request through the module, as the transport would.
    func send(
        _ method: HTTP.Method, _ url: String, _ fields: [(name: String, value: String)] = []
    ) async -> Response {
        let path = url.hasPrefix("https://chat.example") ? String(url.dropFirst(20)) : url
        let request = Request(method: method, target: RequestTarget(path), fields: Fields(fields))
        switch answer(to: request).outcome {
        case .response(let response): return response
        case .work(_, let work): return await work(ScriptedBody([]))
        case .upgrade(let upgrade): return Response(upgrade)
        }
    }
}

/// Collects the content that a task writes, without back pressure.
final class CapturingChannel: ByteChannel {
    private let state = Locked((bytes: [UInt8](), waiting: CheckedContinuation<Bool, Never>?.none))

    /// All bytes that a content writes; `nil` when it was aborted.
    static func read(_ handler: any ByteChannelHandler) async -> [UInt8]? {
        let channel = CapturingChannel()
        let isWhole = await withCheckedContinuation { continuation in
            channel.state.withLock { $0.waiting = continuation }
            handler.opened(channel)
        }
        handler.closed()
        return isWhole ? channel.state.withLock { $0.bytes } : nil
    }

    var milliseconds: Int64 { 0 }
    var queuedCount: Int64 { 0 }
    var isFull: Bool { false }
    var isReading: Bool {
        get { true }
        set {}
    }
    func send(_ bytes: [UInt8]) { state.withLock { $0.bytes += bytes } }
    func setDeadline(_ time: Int64) {}
    func finish() { end(true) }
    func abort() { end(false) }
    func perform(_ work: @escaping @Sendable () -> Void) { work() }

    private func end(_ isWhole: Bool) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: isWhole)
    }
}
