import Logging
import ObjectStore
import Telemetry
import Uploads

/// Makes a bucket of its settings, and asks the store once whether they are right.
struct BucketOpening {
    let settings: BucketSettings
    let logger: Logger

    /// - Parameter registry: Keeps the records of uploads for several processes; `nil` where there is one.
    /// - Returns: `nil` where contents lie in the data folder.
    /// - Throws: ``StartFailure`` with what an operator can do about it. A store that cannot be reached
    ///   now is no reason not to start: messages need none.
    func bucket(
        registry: UploadBridge?
    ) async throws(StartFailure) -> (contents: ContentBucket, credentials: StoreCredentials)? {
        guard let name = settings.name else { return nil }
        let location = try location(of: name)
        if let mistake = location.mistakes().first {
            let name = Self.names[mistake.setting] ?? mistake.setting
            throw StartFailure("s3.\(name) \(mistake.rule)")
        }
        do throws(ObjectStoreError) {
            let store = try ObjectStore(
                location, clock: ObjectStoreClock(now: systemMilliseconds))
            try await ask(store)
            let bucket = ContentBucket(store, redirects: settings.redirects, registry: registry) {
                [logger] error in
                logger.error("the bucket cannot be used", metadata: ["cause": "\(error)"])
            }
            return (bucket, StoreCredentials(store: store, settings: settings))
        } catch {
            throw StartFailure("the bucket \(name) of s3.bucket cannot be used: \(error)")
        }
    }

    /// What settings are called here, where that is something else.
    private static let names = [
        "accessKey": "access_key", "secretKey": "secret_key", "sessionToken": "session_token",
        "leavesPayloadUnsigned": "unsigned_payload",
    ]

    private func ask(_ store: ObjectStore) async throws(ObjectStoreError) {
        do throws(ObjectStoreError) {
            let ahead = try await store.check()
            if ahead != 0 {
                logger.warning(
                    "the clock of this machine is off", metadata: ["by_ms": "\(-ahead)"])
            }
        } catch {
            guard error.isTransient else { throw error }
            logger.error("the bucket cannot be reached", metadata: ["cause": "\(error)"])
        }
    }

    private func location(of name: String) throws(StartFailure) -> ObjectStoreSettings {
        ObjectStoreSettings(
            endpoint: settings.endpoint ?? "https://s3.\(settings.region).amazonaws.com",
            region: settings.region, bucket: name, prefix: settings.prefix ?? "",
            style: settings.style, credentials: try settings.credentials(),
            authorities: settings.authorities,
            leavesPayloadUnsigned: settings.leavesPayloadUnsigned,
            sumsParts: settings.sumsParts)
    }
}
