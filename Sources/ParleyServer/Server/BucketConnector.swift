import FoundationEssentials
import HTTPTransport
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
    /// - Throws: ``CommandFailure`` with what an operator can do. An unreachable store does
    ///   not prevent a start: messages do not need it.
    func bucket(
        registry: (any UploadRegistry)?
    ) async throws(CommandFailure) -> (contents: ContentBucket, credentials: BucketCredentials)? {
        guard let name = settings.name else { return nil }
        let errors = settings.check()
        guard errors.isEmpty else {
            throw CommandFailure(errors.map(\.description).joined(separator: "\n"))
        }
        let location = settings.location(of: name, try settings.credentials())
        do throws(ObjectStoreError) {
            let store = try ObjectStore(
                location, clock: ObjectStoreClock(now: systemMilliseconds))
            try await probe(store)
            let bucket = ContentBucket(store, redirects: settings.redirects, registry: registry) {
                [logger] error in
                logger.error("the bucket cannot be used", metadata: ["cause": "\(error)"])
            }
            return (bucket, BucketCredentials(store: store, settings: settings))
        } catch {
            throw CommandFailure(
                "the bucket \(name) of s3.bucket cannot be used: \(error.explanation)")
        }
    }

    private func probe(_ store: ObjectStore) async throws(ObjectStoreError) {
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
}

/// Why a bucket cannot be used.
enum BucketSettingsError: CustomStringConvertible {
    /// An invalid setting; the rule completes a sentence that begins with the setting's name.
    case setting(key: String, rule: String)
    case other(CommandFailure)

    /// One line for people.
    var description: String {
        switch self {
        case .setting(let key, let rule): "\(key) \(rule)"
        case .other(let failure): failure.description
        }
    }
}

extension BucketSettings {
    /// All errors in the settings of the bucket that can be found without a request.
    func check() -> [BucketSettingsError] {
        guard let name else { return [] }
        var errors: [BucketSettingsError] = []
        var credentials: Credentials?
        do throws(CommandFailure) {
            credentials = try self.credentials()
        } catch {
            errors.append(.other(error))
        }
        if let authorities {
            do throws(TLSConfigurationError) {
                try TLSCheck.checkAuthorities(authorities)
            } catch {
                errors.append(
                    .setting(key: "s3.authorities", rule: "must name a PEM file: \(error)"))
            }
        }
        // Keys that are missing are a conflict of settings, which is reported separately.
        let isKeyed = credentialsFile != nil || accessKey != nil && secretKey != nil
        let hidden = ["accessKey", "secretKey", "sessionToken"]
        let location = location(
            of: name, credentials ?? Credentials(accessKey: "", secretKey: ""))
        for invalid in location.invalidSettings() {
            guard credentials != nil && isKeyed || !hidden.contains(invalid.setting) else {
                continue
            }
            // Without an endpoint it is derived from the region.
            guard endpoint != nil || invalid.setting != "endpoint" else { continue }
            let key = Self.names[invalid.setting] ?? invalid.setting
            errors.append(.setting(key: "s3.\(key)", rule: invalid.rule))
        }
        return errors
    }

    /// The setting's name in `s3.…`, where it differs from the property's.
    private static let names = [
        "accessKey": "access_key", "secretKey": "secret_key", "sessionToken": "session_token",
        "leavesPayloadUnsigned": "unsigned_payload",
    ]

    fileprivate func location(
        of name: String, _ credentials: Credentials
    ) -> ObjectStoreSettings {
        ObjectStoreSettings(
            endpoint: endpoint ?? "https://s3.\(region).amazonaws.com", region: region,
            bucket: name,
            prefix: prefix ?? "", style: style, credentials: credentials, authorities: authorities,
            leavesPayloadUnsigned: leavesPayloadUnsigned, sendsPartChecksums: sendsPartChecksums)
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
                "the file \(path) of s3.credentials_file must contain aws_access_key_id and aws_secret_access_key under [default]"
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
