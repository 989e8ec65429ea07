import FoundationEssentials
import Locking
import ObjectStore

/// Follows the file of `s3.credentials_file`: credentials of a session end with it, and whoever wrote the
/// file writes the next ones into it before.
struct StoreCredentials: Sendable {
    let store: ObjectStore
    let settings: BucketSettings

    /// How often it is read again, in milliseconds; tools write the next ones minutes before the last ones
    /// end.
    private static let interval: Int64 = 30_000

    /// Reads the file again and asks the store with what it holds.
    func reload() throws(StartFailure) {
        guard settings.credentialsFile != nil else { return }
        store.adopt(try settings.credentials())
    }

    /// Does so again and again, until it is cancelled.
    func follow(onFault: @escaping @Sendable (StartFailure) -> Void) async {
        guard settings.credentialsFile != nil else { return }
        await repeating(after: Self.interval) {
            do throws(StartFailure) {
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
    func credentials() throws(StartFailure) -> Credentials {
        guard let path = credentialsFile else {
            return Credentials(
                accessKey: accessKey ?? "", secretKey: secretKey ?? "",
                sessionToken: sessionToken)
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
