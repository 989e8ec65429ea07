import HTTP
import HTTPClient
import SystemSupport
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.enabled(if: ObjectServer.isAvailable)) struct `Attempts` {
    @Test(arguments: ["SlowDown", "InternalError", "RequestTimeout", "badgateway"])
    func `continue while the store fails temporarily (§10.3)`(
        fault: String
    ) async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key("\(fault).2.PUT", "\(fault).2.GET", "\(fault).2.DELETE")
        _ = try await bucket.store.put(key, .bytes(patternBytes(20_000)), type: "a/b")
        #expect(bucket.waits == [100, 200])
        #expect(try await bucket.store.read(key) == patternBytes(20_000))
        try await bucket.store.delete(key)
        #expect(bucket.waits == [100, 200, 100, 200, 100, 200])
    }

    @Test(
        arguments: [
            ("SlowDown", ObjectStoreError.Kind.busy, "SlowDown", 503),
            ("InternalError", .busy, "InternalError", 500),
            ("RequestTimeout", .busy, "RequestTimeout", 400),
            ("badgateway", .busy, nil, 502), ("drop", .unreachable, nil, nil),
            ("lost", .unreachable, nil, nil),
        ] as [(String, ObjectStoreError.Kind, String?, Int?)])
    func `end with the last error`(
        name: String, kind: ObjectStoreError.Kind, code: String?, status: Int?
    ) async throws {
        let bucket = try TestBucket { $0.attempts = 4 }
        let key = try TestBucket.key("\(name).99")
        let last = try await fault { _ = try await bucket.store.get(key) }
        #expect(last.kind == kind)
        #expect(last.code == code)
        #expect(last.status == status)
        #expect(last.isTransient)
        #expect(bucket.waits == [100, 200, 400])
    }

    @Test func `end after the second timeout`() async throws {
        let count = Locked(0)
        let server = try ScriptedServer { connection in
            count.withLock { count in count += 1 }
            // Until the client closes the connection.
            while connection.readHead() != nil {}
        }
        let bucket = try TestBucket { $0.endpoint = "http://127.0.0.1:\(server.port)" }
        var request = StoreRequest("get object", .get, "thing")
        request.stallTimeout = .seconds(1)
        let asked = request
        let last = try await fault { _ = try await bucket.store.fields(asked) }
        #expect(last.kind == .unreachable)
        #expect(bucket.waits == [100])
        // The server may notice a connection only after the client has given it up.
        for _ in 0..<6000 where count.withLock({ count in count }) < 2 {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(count.withLock { $0 } == 2)
        withExtendedLifetime(server) {}
    }

    @Test(
        arguments: [
            ("AccessDenied", ObjectStoreError.Kind.accessDenied), ("NoSuchBucket", .missingBucket),
            ("EntityTooLarge", .tooLarge), ("redirect", .wrongRegion), ("notfound", .unexpected),
        ] as [(String, ObjectStoreError.Kind)])
    func `are not repeated where the answer would be the same`(
        name: String, kind: ObjectStoreError.Kind
    ) async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key("\(name).99")
        let body = ClientBody.bytes(patternBytes(100))
        for operation in [
            { _ = try await bucket.store.put(key, body, type: "a/b") },
            { _ = try await bucket.store.get(key) },
            { _ = try await bucket.store.head(key) },
            { _ = try await bucket.store.createMultipartUpload(key, type: "a/b") },
            { _ = try await bucket.store.parts(key, upload: "u") },
            { try await bucket.store.abort(key, upload: "u") },
        ] as [() async throws -> Void] {
            let only = try await fault(operation)
            #expect(only.kind == kind)
            #expect(!only.isTransient)
        }
        #expect(bucket.waits.isEmpty)
    }

    @Test func `read a 200 that holds an error after white space (§10.3)`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key("late.2.POST")
        let upload = try await bucket.store.createMultipartUpload(key, type: "a/b")
        #expect(bucket.waits == [100, 200])
        let part = try await bucket.store.putPart(key, upload: upload, number: 1, .bytes([1]))

        try await bucket.store.complete(key, upload: upload, [part])
        #expect(bucket.waits == [100, 200, 100, 200])
        #expect(try await bucket.store.read(key) == [1])

        let always = try TestBucket.key("late.99.POST")
        let late = try await fault { try await bucket.store.complete(always, upload: "u", [part]) }
        #expect(late.kind == .busy)
        #expect(late.code == "InternalError")
        #expect(late.status == 200)
    }

    @Test(arguments: ["nonsense", "empty"])
    func `accept no response as success without its required content`(name: String) async throws {
        let bucket = try TestBucket { $0.attempts = 2 }
        let part = ObjectPart(number: 1, size: 1, tag: "t")
        let key = try TestBucket.key("\(name).99")
        for operation in [
            { try await bucket.store.complete(key, upload: "u", [part]) },
            { _ = try await bucket.store.createMultipartUpload(key, type: "a/b") },
            { _ = try await bucket.store.parts(key, upload: "u") },
            { _ = try await bucket.store.put(key, .bytes([1]), type: "a/b") },
            { _ = try await bucket.store.get(key) },
            { _ = try await bucket.store.get(key, range: 0..<1) },
            {
                _ = try await bucket.store.copyPart(
                    key, upload: "u", number: 1, from: key, range: 0..<1)
            },
        ] as [() async throws -> Void] {
            #expect(try await fault(operation).kind == .unexpected)
        }
    }

    @Test func `whose response was lost are repeated, and may leave an upload to clean up`()
        async throws
    {
        let bucket = try TestBucket()
        let key = try TestBucket.key("lost.1.POST")
        // The response of the first upload is lost; cleaning up finds the upload.
        let upload = try await bucket.store.createMultipartUpload(key, type: "a/b")
        let open = try await bucket.store.openMultipartUploads().all().map(\.upload)
        #expect(open.count == 2 && open.contains(upload))
        for upload in open { try await bucket.store.abort(key, upload: upload) }
    }

    @Test func `to complete a completed upload rely on HEAD (§10.3)`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key("forgotten.9.POST")
        let upload = try await bucket.store.createMultipartUpload(key, type: "a/b")
        let part = try await bucket.store.putPart(key, upload: upload, number: 1, .bytes([1, 2]))
        let unheard = try await fault {
            try await bucket.store.complete(key, upload: upload, [part])
        }
        #expect(unheard.kind == .missingUpload)
        #expect(try await bucket.store.head(key)?.size == 2)
    }

    @Test func `of HEAD distinguish a missing object from other failures`() async throws {
        let bucket = try TestBucket { $0.attempts = 2 }
        let key = try TestBucket.key("notfound.1.HEAD")
        #expect(try await bucket.store.head(key) == nil)
        let there = try TestBucket.key("AccessDenied.1.HEAD")
        _ = try await bucket.store.put(there, .bytes([]), type: "a/b")
        #expect(try await bucket.store.head(there)?.size == 0)
        let proxy = try await fault {
            _ = try await bucket.store.head(try TestBucket.key("notfound.99"))
        }
        #expect(proxy.kind == .unexpected)
    }

    @Test func `correct the clock once if the store rejects it (§10.3)`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key("skew.99")
        let began = ContinuousClock.now
        _ = try await bucket.store.put(key, .bytes([1]), type: "a/b")
        #expect(try await bucket.store.head(key)?.size == 1)
        #expect(bucket.waits.isEmpty)
        // Exact but for what passed between the store's answer and its being read, and a second in
        // which `Date` is the same.
        let passed = (ContinuousClock.now - began) / .milliseconds(1)
        let late = Double(3_600_000 - bucket.store.offset.withLock { $0 })
        #expect((-1000...passed + 1000).contains(late))

        // Its `Date` does not help here: this clock stays in 2023.
        let past = try TestBucket(clock: 1_700_000_000_000)
        let denied = try await fault {
            _ = try await past.store.get(try TestBucket.key("RequestTimeTooSkewed.99"))
        }
        #expect(denied.kind == .clockSkew)
    }

    @Test func `of a download resume where it broke`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key("cut.3.GET")
        let content = patternBytes(400_000)
        _ = try await bucket.store.put(key, .bytes(content), type: "a/b")
        #expect(try await bucket.store.read(key) == content)
        #expect(bucket.waits == [100, 100, 100])
        let other = try TestBucket.key("cut.1.GET")
        _ = try await bucket.store.put(other, .bytes(content), type: "a/b")
        #expect(
            try await bucket.store.read(other, range: 100..<399_900)[...] == content[100..<399_900])
    }

    @Test func `of a download end if the object has changed`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key("cut.1.GET")
        _ = try await bucket.store.put(key, .bytes(patternBytes(400_000)), type: "a/b")
        let stream = try await bucket.store.get(key)
        _ = try await bucket.store.put(key, .bytes(patternBytes(400_001)), type: "a/b")
        let lost = try await fault { while try await stream.next() != nil {} }
        #expect(lost.kind == .preconditionFailed)
    }

    @Test func `reject a whole object for a range`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key("whole.9.GET")
        _ = try await bucket.store.put(key, .bytes(patternBytes(100)), type: "a/b")
        let wrong = try await fault { _ = try await bucket.store.get(key, range: 10..<20) }
        #expect(wrong.kind == .unexpected)
    }

    @Test func `end when the task is cancelled`() async throws {
        let bucket = try TestBucket()
        let key = try TestBucket.key("SlowDown.99")
        let task = Task { try await bucket.store.get(key) }
        task.cancel()
        let cancelled = await #expect(throws: ObjectStoreError.self) { _ = try await task.value }
        #expect(cancelled?.kind == .cancelled)
    }

    @Test func `without a listener end as unreachable`() async throws {
        let bucket = try TestBucket { settings in
            settings.endpoint = "http://127.0.0.1:1"
            settings.attempts = 2
        }
        let failure = try await fault { _ = try await bucket.store.check() }
        #expect(failure.kind == .unreachable)
        #expect(bucket.waits.count == 1)
    }
}

@Suite struct `Waiting between attempts` {
    @Test func `doubles up to the longest delay, minus a random share of up to a half`() {
        let backoff = Backoff(first: 200, longest: 10_000)
        let longest = (1...9).map { backoff.wait(after: $0) { $0.lowerBound } }
        #expect(longest == [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000])
        let shortest = (1...9).map { backoff.wait(after: $0) { $0.upperBound } }
        #expect(shortest == [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000])
        #expect(backoff.wait(after: 1_000_000) { $0.lowerBound } == 10_000)
    }
}
