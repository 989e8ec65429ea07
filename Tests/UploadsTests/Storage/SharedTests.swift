import Blobs
import Bytes
import HTTP
import HTTPClient
import ObjectStore
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

/// 20 MiB and a bit: two parts of 8 MiB, and a rest.
private let bytes = patternBytes(20 << 20 | 12_345)
private let total = bytes.count

/// Two modules with their own disks, like two processes, that share a bucket and the records.
@Suite(.enabled(if: ObjectServer.isAvailable)) struct `An upload that two processes share` {
    private let registry = InMemoryRegistry()
    private let bucket: ContentBucket
    private let first: UploadFixture
    private let second: UploadFixture

    init() {
        bucket = .scratch(registry: registry)
        (first, second) = (UploadFixture(bucket: bucket), UploadFixture(bucket: bucket))
    }

    private var name: BlobName {
        get throws { try #require(BlobName(UploadFixture.content)) }
    }

    private var pieces: [ListedObject] {
        get async throws { try await bucket.store.objects(below: SharedStorage.folder).all() }
    }

    private func isWhole(at fixture: UploadFixture) -> Bool {
        fixture.finisher.finished.withLock { $0.last?.content.sha256 } == SHA256.digest(of: bytes)
    }

    /// Waits until objects without a record are deleted.
    private func expectNothingLeft() async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try await !pieces.isEmpty, .now < deadline { await pause(milliseconds: 50) }
        #expect(try await pieces == [])
        #expect(try await bucket.store.openMultipartUploads().all().isEmpty)
        #expect(registry.all.allSatisfy { row in UploadRecord(row.record)?.held == nil })
    }

    private func put(
        _ uploads: Uploads, _ url: String, _ range: Range<Int>
    ) async -> Response {
        await uploads.put(
            url, "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)",
            Array(bytes[range]))
    }

    @Test(arguments: [1, 5 << 20, 8 << 20, 10 << 20, 17 << 20])
    func
        `continues at the second process after a cut at the first, and is unchanged (10.5, 11.3)`(
            cut: Int
        ) async throws
    {
        let one = try await first.open()
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        #expect(await put(one, url, 0..<cut).fields["Range"] == "bytes=0-\(cut - 1)")
        let two = try await second.open()
        #expect(await two.offset(url) == "\(cut)")
        #expect(await put(two, url, cut..<total).status == .ok)
        #expect(isWhole(at: second))
        // The local copy of bytes sent here expires; the fixture's clock is years ahead.
        await one.sweep()
        for uploads in [one, two] {
            #expect(try uploads.blobs.stagedEntries().isEmpty)
            #expect(await uploads.bytes(of: UploadFixture.content) == bytes)
            #expect(await uploads.send(.head, url).fields["Upload-Complete"] == "?1")
        }
        try await expectNothingLeft()
    }

    @Test func `is sent to both in turn, chunk by chunk (10.5)`() async throws {
        let modules = [try await first.open(), try await second.open()]
        let url = try await modules[0].create(UploadFixture.draft(length: Int64(total)))
        let step = 700_001
        for (number, start) in stride(from: 0, to: total, by: step).enumerated() {
            let end = min(start + step, total)
            let answer = await put(modules[number % 2], url, start..<end)
            #expect(answer.status == (end == total ? .ok : .resumeIncomplete))
        }
        #expect(await modules[0].bytes(of: UploadFixture.content) == bytes)
        try await expectNothingLeft()
    }

    @Test func `of many small chunks keeps a short record (10.5)`() async throws {
        let modules = [try await first.open(), try await second.open()]
        let url = try await modules[0].create(UploadFixture.draft(length: Int64(total)))
        for number in 0..<40 {
            let answer = await put(modules[0], url, number..<number + 1)
            #expect(answer.status == .resumeIncomplete)
        }
        let record = try #require(registry.all.first.flatMap { row in UploadRecord(row.record) })
        #expect(try #require(record.held).pieces.count <= 17)
        #expect(await put(modules[1], url, 40..<total).status == .ok)
        #expect(await modules[1].bytes(of: UploadFixture.content) == bytes)
        try await expectNothingLeft()
    }

    @Test
    func `is taken over from a stalled writer, whose request is dropped (11.4)`()
        async throws
    {
        let (one, two) = (try await first.open(), try await second.open())
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        #expect(await put(one, url, 0..<1000).status == .resumeIncomplete)
        let body = ScriptedBody(
            [.bytes(Array(bytes[1000..<2000])), .pause, .bytes([UInt8](repeating: 0, count: 500))],
            length: Int64(total - 1000))
        async let stalled = one.send(
            .put, url, [("Content-Range", "bytes 1000-\(total - 1)/\(total)")], body)
        while body.reads < 2 { await pause(milliseconds: 1) }
        // A request that does not fit does not interrupt, and gets the first process's offset.
        #expect(await put(two, url, 5000..<6000).fields["Range"] == "bytes=0-1999")
        // The second process continues at the stored offset.
        #expect(await put(two, url, 1000..<3_000_000).fields["Range"] == "bytes=0-2999999")
        body.release()
        #expect(await stalled.ending == .drop)
        #expect(await one.offset(url) == "3000000")
        #expect(await put(one, url, 3_000_000..<total).status == .ok)
        #expect(await two.bytes(of: UploadFixture.content) == bytes)
        try await expectNothingLeft()
    }

    /// A `PUT` at the first process, of which 40 bytes are received and which waits for the rest.
    private func slow(_ count: Int = 40) -> ScriptedBody {
        ScriptedBody(
            [.received(Array(bytes[..<count])), .pause, .bytes(Array(bytes[count...]))],
            length: Int64(total))
    }

    @Test(arguments: [HTTP.Method.head, .get])
    func `shows at the second process every byte that the first received (ruling 33)`(
        method: HTTP.Method
    ) async throws {
        let (one, two) = (try await first.open(), try await second.open())
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        let body = slow()
        async let answer = one.send(.put, url, [], body)
        await body.untilPaused()
        let status = await two.send(method, url)
        #expect(status.fields["Upload-Offset"] == "40" || status.text.contains("\"offset\":40"))
        #expect(try await two.progress(of: UploadFixture.content)?.received == 40)
        // The first continues, and a later status needs no request to it.
        body.release()
        #expect(await answer.status == .ok)
        let asked = registry.asked.withLock { $0 }
        #expect(asked >= 1)
        #expect(await two.offset(url) == "\(total)")
        #expect(registry.asked.withLock { $0 } == asked)
        #expect(isWhole(at: first))
        try await expectNothingLeft()
    }

    @Test(arguments: [
        ("Content-Range", "bytes */*"), ("Tus-Resumable", "1.0.0"),
        ("Upload-Draft-Interop-Version", "6"), ("Upload-Draft-Interop-Version", "8"),
    ])
    func `is taken over by a status query at the second process, with every byte (ruling 33, 11.4)`(
        name: String, value: String
    ) async throws {
        let (one, two) = (try await first.open(), try await second.open())
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        let body = slow()
        async let displaced = one.send(.put, url, [], body)
        await body.untilPaused()
        let method: HTTP.Method = name == "Content-Range" ? .put : .head
        let status = await two.send(method, url, [(name, value)])
        #expect(status.fields["Upload-Offset"] == "40" || status.fields["Range"] == "bytes=0-39")
        #expect(await displaced.ending == .drop)
        #expect(await put(two, url, 40..<total).status == .ok)
        #expect(await one.bytes(of: UploadFixture.content) == bytes)
        try await expectNothingLeft()
    }

    @Test func `continues at the second process after the last byte the first received (11.4)`()
        async throws
    {
        let (one, two) = (try await first.open(), try await second.open())
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        let body = slow()
        async let displaced = one.send(.put, url, [], body)
        await body.untilPaused()
        let stray = await two.patch(url, at: 41, [1])
        #expect(stray.status == .conflict)
        #expect(stray.fields["Upload-Offset"] == "40")
        let rest = await two.patch(url, at: 40, Array(bytes[40...]))
        #expect(rest.status == .noContent)
        #expect(await displaced.ending == .drop)
        #expect(isWhole(at: second))
    }

    @Test func `waits once, and briefly, for a first process that does not answer (ruling 33)`()
        async throws
    {
        let asking = UploadFixture(bucket: bucket) { $0.peerReplyTimeout = 1000 }
        let (one, two) = (try await first.open(), try await asking.open())
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        let body = slow()
        async let displaced = one.send(.put, url, [], body)
        await body.untilPaused()
        // Like a process that hangs.
        registry.listeners.withLock { $0 = [] }
        let clock = ContinuousClock()
        let took = await clock.measure { #expect(await two.offset(url) == "0") }
        #expect(took >= .seconds(1) && took < .seconds(55))
        // The second status sends no further request.
        let asked = registry.asked.withLock { $0 }
        #expect(await two.offset(url) == "0")
        #expect(registry.asked.withLock { $0 } == asked)
        #expect(await put(two, url, 0..<total).status == .ok)
        body.release()
        #expect(await displaced.ending == .drop)
        #expect(await one.bytes(of: UploadFixture.content) == bytes)
    }

    @Test(arguments: 0..<10)
    func `is not stopped by a status query that comes while it begins (11.4)`(number: Int)
        async throws
    {
        let one = try await first.open()
        let url = try await one.create(UploadFixture.draft(length: 2000))
        async let answer = one.put(url, "bytes 0-1999/2000", Array(bytes[..<2000]))
        for _ in 0..<20 { _ = await one.send(.head, url) }
        #expect(await answer.status == .ok)
    }

    @Test func `sends no queries while no process receives (ruling 33)`() async throws {
        let modules = [try await first.open(), try await second.open()]
        let url = try await modules[0].create(UploadFixture.draft(length: Int64(total)))
        for number in 0..<6 {
            let module = modules[number % 2]
            #expect(await put(module, url, number..<number + 1).status == .resumeIncomplete)
            #expect(await modules[(number + 1) % 2].offset(url) == "\(number + 1)")
        }
        #expect(registry.asked.withLock { $0 } == 0)
        #expect(registry.all.allSatisfy { !$0.isWritten })
    }

    @Test func `discards bytes that the first process received but never acknowledged (10.5)`()
        async throws
    {
        let (one, two) = (try await first.open(), try await second.open())
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        #expect(await put(one, url, 0..<1000).status == .resumeIncomplete)
        // Other bytes, of a request that was cut without an answer; they stay on the first disk.
        let wrong = ScriptedBody(
            [.bytes([UInt8](repeating: 7, count: 5000)), .fails(.interrupted)], length: 9000)
        _ = await one.send(
            .put, url,
            [
                ("Content-Range", "bytes 1000-9999/\(total)"),
                ("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="),
            ],
            wrong)
        #expect(await put(two, url, 1000..<6000).status == .resumeIncomplete)
        #expect(await one.put(url, "bytes */*").fields["Range"] == "bytes=0-5999")
        #expect(await put(one, url, 6000..<total).status == .ok)
        #expect(isWhole(at: first))
        #expect(await two.bytes(of: UploadFixture.content) == bytes)
    }

    @Test func `is finished by the second process when the first ends while finishing (1.3, 11.3)`()
        async throws
    {
        first.finisher.behaviour.withLock { $0 = .breaks }
        let one = try await first.open()
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        #expect(await put(one, url, 0..<total).status == .internalServerError)
        let two = try await second.open()
        // While the first may be alive, it is left to finish; then the second's sweeper does.
        second.pass(SharedUploadRecords.claimDuration)
        await two.sweep()
        #expect(isWhole(at: second))
        #expect(await put(two, url, 0..<total).status == .ok)
        #expect(await two.bytes(of: UploadFixture.content) == bytes)
        try await expectNothingLeft()
    }

    @Test func `is cancelled and expires for both (5.10, 11.8)`() async throws {
        let (one, two) = (try await first.open(), try await second.open())
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        #expect(await put(one, url, 0..<10 << 20).status == .resumeIncomplete)
        #expect(await two.send(.delete, url).status.code == 499)
        #expect(await one.send(.head, url).status == .gone)
        #expect(await put(one, url, 10 << 20..<total).status == .gone)
        try await expectNothingLeft()
        let other = try await one.create(UploadFixture.draft(length: Int64(total)))
        #expect(await put(one, other, 0..<10 << 20).status == .resumeIncomplete)
        second.pass(8 * 24 * 3_600_000)
        await two.sweep()
        #expect(await one.send(.head, other).status == .gone)
        try await expectNothingLeft()
        second.pass(8 * 24 * 3_600_000)
        await two.sweep()
        #expect(registry.all.isEmpty)
        #expect(await one.send(.head, other).status == .notFound)
    }

    @Test func `counts towards the limits of its owner and application at both (11.9)`()
        async throws
    {
        let limited = UploadFixture(bucket: bucket) { settings in
            settings.maxOpenUploadsPerOwner = 2
            settings.applicationQuota = 1000
        }
        let other = UploadFixture(bucket: bucket) { settings in
            settings.maxOpenUploadsPerOwner = 2
            settings.applicationQuota = 1000
        }
        let modules = [try await limited.open(), try await other.open()]
        _ = try await modules[0].create(UploadFixture.draft(length: 600))
        await #expect(throws: UploadError.quotaExceeded(1000)) {
            try await modules[1].create(UploadFixture.draft(length: 600))
        }
        _ = try await modules[1].create(UploadFixture.draft(length: 100))
        await #expect(throws: UploadError.tooManyUploads) {
            try await modules[0].create(UploadFixture.draft(length: 1))
        }
    }

    @Test func `is not reported as lost while the store is unreachable (6.4)`() async throws {
        let one = try await first.open()
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        registry.isUnavailable.withLock { $0 = true }
        #expect(await one.send(.head, url).status == .serviceUnavailable)
        #expect(await put(one, url, 0..<10).status == .serviceUnavailable)
        registry.isUnavailable.withLock { $0 = false }
        #expect(await put(one, url, 0..<10).status == .resumeIncomplete)
    }

    @Test func `shows no byte whose record could not be stored (11.1)`() async throws {
        let one = try await first.open()
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        let body = ScriptedBody(
            [.bytes(Array(bytes[0..<1000])), .pause], length: 1000)
        async let answer = one.send(
            .put, url, [("Content-Range", "bytes 0-999/\(total)")], body)
        while body.reads < 2 { await pause(milliseconds: 1) }
        registry.isUnavailable.withLock { $0 = true }
        body.release()
        #expect(await answer.status == .serviceUnavailable)
        registry.isUnavailable.withLock { $0 = false }
        #expect(await one.offset(url) == "0")
        #expect(await put(one, url, 0..<total).status == .ok)
        #expect(await one.bytes(of: UploadFixture.content) == bytes)
    }

    @Test func `joined from parts is copied inside the store (6.10, 10.6)`() async throws {
        let modules = [try await first.open(), try await second.open()]
        // The first two are long enough, and the last may be short.
        let cuts = [0, 9 << 20, 19 << 20, total]
        var urls: [String] = []
        for number in 0..<3 {
            let range = cuts[number]..<cuts[number + 1]
            let made = await modules[number % 2].create([
                ("Upload-Concat", "partial"), ("Upload-Length", "\(range.count)"),
                ("Test-Content", UploadFixture.content(number: number + 1)),
            ])
            let url = try #require(made.fields["Location"])
            let patch = await modules[(number + 1) % 2].patch(url, at: 0, Array(bytes[range]))
            #expect(patch.status == .noContent)
            urls.append(url)
        }
        let list = "final;" + urls.joined(separator: " ")
        #expect(await modules[0].create([("Upload-Concat", list)]).status == .created)
        #expect(await modules[1].bytes(of: UploadFixture.content) == bytes)
        let object = try await bucket.store.head(ContentBucket.key(of: name))
        #expect(object?.tag.hasSuffix("-3\"") == true)
        #expect(isWhole(at: first))
        try await expectNothingLeft()
    }

    @Test
    func `joined from parts too short for a copy inside the store is joined too (6.10, 10.6)`()
        async throws
    {
        let modules = [try await first.open(), try await second.open()]
        let cuts = [0, 1000, 1000, 12 << 20]
        var urls: [String] = []
        for number in 0..<3 {
            let range = cuts[number]..<cuts[number + 1]
            let made = await modules[0].create([
                ("Upload-Concat", "partial"), ("Upload-Length", "\(range.count)"),
                ("Test-Content", UploadFixture.content(number: number + 1)),
            ])
            let url = try #require(made.fields["Location"])
            if !range.isEmpty {
                let patch = await modules[1].patch(url, at: 0, Array(bytes[range]))
                #expect(patch.status == .noContent)
            }
            urls.append(url)
        }
        let list = "final;" + urls.joined(separator: " ")
        #expect(await modules[1].create([("Upload-Concat", list)]).status == .created)
        #expect(await modules[0].bytes(of: UploadFixture.content) == Array(bytes[..<(12 << 20)]))
        try await expectNothingLeft()
    }

    @Test func `leaves no object in the store that no record names (11.8)`() async throws {
        let one = try await first.open()
        let url = try await one.create(UploadFixture.draft(length: Int64(total)))
        #expect(await put(one, url, 0..<10 << 20).status == .resumeIncomplete)
        let named = try await pieces.count
        #expect(named > 0)
        // As left by a process that ends between the store and the record.
        let stray = StoredParts.Piece(range: 0..<3, id: "stray")
        let shared = try #require(one.engine.shared)
        _ = try await bucket.store.put(
            shared.key(stray, of: name), .bytes([1, 2, 3]), type: "image/png")
        _ = try await bucket.store.createMultipartUpload(
            ContentBucket.key(of: name), type: "image/png")
        #expect(try await pieces.count == named + 1)
        // The fixture's clock is years ahead of the store's.
        await one.sweep()
        #expect(try await pieces.count == named)
        #expect(try await bucket.store.openMultipartUploads().all().count == 1)
        #expect(await put(one, url, 10 << 20..<total).status == .ok)
        #expect(await one.bytes(of: UploadFixture.content) == bytes)
    }

    @Test(arguments: [false, true])
    func `that was begun before uploads were shared continues (10.5)`(inBucket: Bool) async throws {
        let alone = UploadFixture(
            on: first.temporary.path, bucket: inBucket ? ContentBucket(bucket.store) : nil)
        let before = try await alone.open()
        let url = try await before.create(UploadFixture.draft(length: Int64(total)))
        #expect(await put(before, url, 0..<10 << 20).status == .resumeIncomplete)
        // A process that ends sends no more parts; this one does not end, so its last part is waited for.
        if let uploader = before.engine.storage.uploader(of: try name) {
            while try await uploader.known()?.tags.isEmpty ?? true {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        await before.shutdown()
        let uploads = try await first.open()
        #expect(await uploads.offset(url) == "\(10 << 20)")
        let two = try await second.open()
        #expect(await put(two, url, 10 << 20..<total).status == .ok)
        let stored = try #require(await uploads.bytes(of: UploadFixture.content))
        #expect(stored.count == total && stored == bytes)
        #expect(try !Uploads.needsBucket(in: first.folder))
        // A second start has nothing left to migrate.
        #expect(await (try first.open()).send(.head, url).status == .ok)
    }
}
