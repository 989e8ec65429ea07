import FoundationEssentials
import Logging
import ObjectStore
import SystemSupport
import Telemetry
import Uploads

/// Connects to the bucket of the settings and checks access once.
struct BucketConnector {
    let settings: BucketSettings
    let logger: Logger

    /// Creates the bucket.
    ///
    /// - Parameter registry: Stores upload records for several processes; `nil` for one process.
    /// - Returns: `nil` if contents are stored in the data folder.
    /// - Throws: ``CommandFailure`` that says what an operator can do. An unreachable store does
    ///   not prevent a start: messages do not need it.
    func bucket(
        registry: (any UploadRegistry)?
    ) async throws(CommandFailure) -> (contents: ContentBucket, credentials: BucketCredentials)? {
        guard let name = settings.name else { return nil }
        let location = try location(of: name)
        if let error = location.invalidSettings().first {
            let name = Self.names[error.setting] ?? error.setting
            throw CommandFailure("s3.\(name) \(error.rule)")
        }
        do throws(ObjectStoreError) {
            let store = try ObjectStore(
                location, clock: ObjectStoreClock(now: systemMilliseconds))
            try await ask(store)
            let bucket = ContentBucket(store, redirects: settings.redirects, registry: registry) {
                [logger] error in
                logger.error("the bucket cannot be used", metadata: ["cause": "\(error)"])
            }
            return (bucket, BucketCredentials(store: store, settings: settings))
        } catch {
            throw CommandFailure("the bucket \(name) of s3.bucket cannot be used: \(error)")
        }
    }

    /// The setting's name in `s3.…`, where it differs from the property's.
    private static let names = [
        "accessKey": "access_key", "secretKey": "secret_key", "sessionToken": "session_token",
        "leavesPayloadUnsigned": "unsigned_payload",
    ]

    private func ask(_ store: ObjectStore) async throws(ObjectStoreError) {
        do throws(ObjectStoreError) {
            let ahead = try await store.check()
            if ahead != 0 {
                logger.warning(
                    "the clock of this machine is wrong", metadata: ["by_ms": "\(-ahead)"])
            }
        } catch {
            guard error.isTransient else { throw error }
            logger.error("the bucket cannot be reached", metadata: ["cause": "\(error)"])
        }
    }

    private func location(of name: String) throws(CommandFailure) -> ObjectStoreSettings {
        ObjectStoreSettings(
            endpoint: settings.endpoint ?? "https://s3.\(settings.region).amazonaws.com",
            region: settings.region, bucket: name, prefix: settings.prefix ?? "",
            style: settings.style, credentials: try settings.credentials(),
            authorities: settings.authorities,
            leavesPayloadUnsigned: settings.leavesPayloadUnsigned,
            sendsPartChecksums: settings.sendsPartChecksums)
    }
}

/// Reloads `s3.credentials_file`: session credentials expire, and the program that wrote the file
/// writes new ones before that.
struct BucketCredentials: Sendable {
    let store: ObjectStore
    fileprivate let settings: BucketSettings

    /// Milliseconds between two reloads; new credentials are written minutes before the old ones
    /// expire.
    private static let interval: Int64 = 30_000

    /// Reads the file again and uses its credentials from now on.
    func reload() throws(CommandFailure) {
        guard settings.credentialsFile != nil else { return }
        store.replaceCredentials(try settings.credentials())
    }

    /// Reloads the file regularly, until cancelled.
    func follow(onFault: @escaping @Sendable (CommandFailure) -> Void) async {
        guard settings.credentialsFile != nil else { return }
        await runRepeatedly(after: Self.interval) {
            do throws(CommandFailure) {
                try reload()
            } catch {
                // The previous credentials stay in use while they are valid.
                onFault(error)
            }
        }
    }
}

extension BucketSettings {
    /// The credentials of the settings, or of the file they name.
    func credentials() throws(CommandFailure) -> Credentials {
        guard let path = credentialsFile else {
            return Credentials(
                accessKey: accessKey ?? "", secretKey: secretKey ?? "",
                sessionToken: sessionToken)
        }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("the file \(path) of s3.credentials_file cannot be read")
        }
        guard let credentials = Credentials(file: String(decoding: bytes, as: UTF8.self)) else {
            throw CommandFailure(
                "the file \(path) of s3.credentials_file must hold aws_access_key_id and aws_secret_access_key under [default]"
            )
        }
        return credentials
    }
}

extension Credentials {
    /// Reads an AWS credentials file: lines `name = value` under `[default]`.
    ///
    /// `nil` if the key or its secret is missing.
    init?(file text: String) {
        var values: [String: String] = [:]
        var isDefault = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = Self.trimmed(line)
            if line.hasPrefix("[") {
                isDefault = line == "[default]"
            } else if isDefault, let equals = line.firstIndex(of: "=") {
                values[Self.trimmed(line[..<equals])] = Self.trimmed(
                    line[line.index(after: equals)...])
            }
        }
        guard let accessKey = values["aws_access_key_id"],
            let secretKey = values["aws_secret_access_key"]
        else { return nil }
        self.init(
            accessKey: accessKey, secretKey: secretKey, sessionToken: values["aws_session_token"])
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let start = text.drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
