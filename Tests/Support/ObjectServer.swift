internal import FoundationEssentials
internal import Glibc

/// The object store for the tests of this process. It starts with the first use and ends with the
/// process (see `objectstore.py` for its credentials and simulated errors).
public final class ObjectServer: Sendable {
    /// The shared server; `nil` if none can be started, which is printed once.
    public static let shared: ObjectServer? = ObjectServer()

    /// Whether there is a server; tests that need one are otherwise skipped.
    public static var isAvailable: Bool { shared != nil }

    /// `http://127.0.0.1:PORT`.
    public let endpoint: String
    /// The same over TLS, with a certificate of ``authorities``.
    public let secureEndpoint: String
    /// A PEM file with the CA certificate.
    public let authorities: String
    /// `seaweedfs` or `moto`.
    public let name: String
    private let server: HelperProcess

    /// The existing bucket.
    public static let bucket = "parley"
    /// Its region.
    public static let region = "eu-test-1"
    /// The access key with all permissions, and its secret.
    public static let owner = (key: "parley", secret: "sesame-and-more")

    /// Starts a server; `nil` if none can be started.
    public init?() {
        // The folder where `make test` installs packages of PyPI.
        let made = HelperProcess.folder + "/../../.build/python/bin/python"
        server = HelperProcess(
            "objectstore.py", by: access(made, X_OK) == 0 ? made : "python3")
        let answer = server.line()
        let fields = answer.split(separator: " ").map(String.init)
        guard fields.count == 5, fields[0] == "ready" else {
            let reason = Array("Tests with an object store are skipped: \(answer)\n".utf8)
            _ = write(2, reason, reason.count)
            return nil
        }
        endpoint = fields[1]
        name = fields[2]
        secureEndpoint = fields[3]
        authorities = fields[4]
    }

    /// A prefix that no other test uses.
    public static func newPrefix() -> String { "\(UUID().uuidString)/" }
}
