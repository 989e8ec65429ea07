import FoundationEssentials
import Logging
import ObjectStore
import SystemSupport
import Telemetry
import Uploads

/// Makes a bucket of its settings, and asks the store once whether they are right.
struct BucketConnector {
    let settings: BucketSettings
    let logger: Logger

    /// - Parameter registry: Keeps the records of uploads for several processes; `nil` where there is one.
    /// - Returns: `nil` where contents lie in the data folder.
    /// - Throws: ``CommandFailure`` with what an operator can do about it. A store that cannot be reached
    ///   now is no reason not to start: messages need none.
    func bucket(
        registry: DatabaseUploadRegistry?
    ) async throws(CommandFailure) -> (contents: ContentBucket, credentials: BucketCredentials)? {
        guard let name = settings.name else { return nil }
        let location = try location(of: name)
        if let mistake = location.invalidSettings().first {
            let name = Self.names[mistake.setting] ?? mistake.setting
            throw CommandFailure("s3.\(name) \(mistake.rule)")
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

/// Follows the file of `s3.credentials_file`: credentials of a session end with it, and whoever wrote the
/// file writes the next ones into it before.
struct BucketCredentials: Sendable {
    let store: ObjectStore
    let settings: BucketSettings

    /// How often it is read again, in milliseconds; tools write the next ones minutes before the last ones
    /// end.
    private static let interval: Int64 = 30_000

    /// Reads the file again and asks the store with what it holds.
    func reload() throws(CommandFailure) {
        guard settings.credentialsFile != nil else { return }
        store.replaceCredentials(try settings.credentials())
    }

    /// Does so again and again, until it is cancelled.
    func follow(onFault: @escaping @Sendable (CommandFailure) -> Void) async {
        guard settings.credentialsFile != nil else { return }
        await runRepeatedly(after: Self.interval) {
            do throws(CommandFailure) {
                try reload()
            } catch {
                // Those that were read before are good for as long as they are.
                onFault(error)
            }
        }
    }
}

extension BucketSettings {
    /// Who asks the store: what the settings say, or the file they name.
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
    /// Reads a file as Amazon's tools write it: lines `name = value` under `[default]`.
    ///
    /// `nil` without the key or its secret.
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
