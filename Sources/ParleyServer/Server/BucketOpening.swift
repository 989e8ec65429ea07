import FoundationEssentials
import Logging
import ObjectStore
import Telemetry
import Uploads

/// Makes a bucket of its settings, and asks the store once whether they are right.
struct BucketOpening {
    let settings: BucketSettings
    let logger: Logger

    /// - Returns: `nil` where contents lie in the data folder.
    /// - Throws: ``StartFailure`` with what an operator can do about it. A store that cannot be reached
    ///   now is no reason not to start: messages need none.
    func bucket() async throws(StartFailure) -> ContentBucket? {
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
            return ContentBucket(store, redirects: settings.redirects) { [logger] error in
                logger.error("the bucket cannot be used", metadata: ["cause": "\(error)"])
            }
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
            style: settings.style, credentials: try credentials(),
            authorities: settings.authorities,
            leavesPayloadUnsigned: settings.leavesPayloadUnsigned)
    }

    private func credentials() throws(StartFailure) -> Credentials {
        guard let path = settings.credentialsFile else {
            return Credentials(
                accessKey: settings.accessKey ?? "", secretKey: settings.secretKey ?? "",
                sessionToken: settings.sessionToken)
        }
        guard let octets = FileManager.default.contents(atPath: path) else {
            throw StartFailure("the file \(path) of s3.credentials_file cannot be read")
        }
        guard let credentials = Credentials(file: String(decoding: octets, as: UTF8.self)) else {
            throw StartFailure(
                "the file \(path) of s3.credentials_file must hold aws_access_key_id and aws_secret_access_key under [default]"
            )
        }
        return credentials
    }
}
