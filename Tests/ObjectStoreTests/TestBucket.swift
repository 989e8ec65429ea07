import Glibc
import SystemSupport
import TestSupport
import Testing

@testable import ObjectStore

/// A client for the shared test server, with its own prefix and a clock that does not wait.
struct TestBucket {
    let store: ObjectStore
    private let waited: Waits

    init(_ change: (inout ObjectStoreSettings) -> Void = { _ in }, clock: Int64? = nil) throws {
        let server = try #require(ObjectServer.shared)
        var settings = ObjectStoreSettings(
            endpoint: server.endpoint, region: ObjectServer.region, bucket: ObjectServer.bucket,
            prefix: ObjectServer.newPrefix(),
            credentials: Credentials(
                accessKey: ObjectServer.owner.key, secretKey: ObjectServer.owner.secret))
        change(&settings)
        let waited = Waits()
        self.waited = waited
        store = try ObjectStore(
            settings,
            clock: ObjectStoreClock(
                now: { clock ?? now() }, sleep: { waited.add($0) }, random: { $0.upperBound }))
    }

    /// The delays before retries so far, in milliseconds.
    var waits: [Int64] { waited.all }

    /// A key for which the test server simulates errors, see `objectstore.py`.
    static func key(_ faults: String...) throws -> ObjectKey {
        try #require(ObjectKey((faults.map { "fault.\($0)" } + ["thing"]).joined(separator: "/")))
    }
}

/// Milliseconds since 1970.
private func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}

private final class Waits: Sendable {
    private let list = Locked<[Int64]>([])

    func add(_ wait: Int64) { list.withLock { $0.append(wait) } }
    var all: [Int64] { list.withLock { $0 } }
}

extension ObjectStore {
    /// The bytes of an object, or of a range of it.
    func read(_ key: ObjectKey, range: Range<Int64>? = nil) async throws -> [UInt8] {
        let stream = try await get(key, range: range)
        var bytes: [UInt8] = []
        while let piece = try await stream.next() { bytes += piece }
        return bytes
    }
}

/// The error that an operation threw.
func fault(
    sourceLocation: SourceLocation = #_sourceLocation, _ operation: () async throws -> Void
) async throws -> ObjectStoreError {
    try #require(
        await #expect(throws: ObjectStoreError.self, sourceLocation: sourceLocation) {
            try await operation()
        }, sourceLocation: sourceLocation)
}
