internal import FoundationEssentials
internal import Glibc

/// An object store of this process's tests: started when the first one asks, gone with the process, however
/// that ends (see `objectstore.py`, which says who may come in and what can be made to go wrong).
public final class ObjectServer: Sendable {
    /// The one they share; `nil` where none can be had, which is said once.
    public static let shared: ObjectServer? = ObjectServer()

    /// Whether there is one: tests that need it are left out otherwise.
    public static var isAvailable: Bool { shared != nil }

    /// `http://127.0.0.1:PORT`.
    public let endpoint: String
    /// The same over TLS, with a certificate that only ``authorities`` vouches for.
    public let secureEndpoint: String
    /// A PEM file.
    public let authorities: String
    /// `seaweedfs` or `moto`.
    public let name: String
    private let server: HelperProcess

    /// The bucket, which is there.
    public static let bucket = "parley"
    /// Its region.
    public static let region = "eu-test-1"
    /// The access key that may do everything, and its secret.
    public static let owner = (key: "parley", secret: "sesame-and-more")

    /// Starts one of its own; `nil` where none can be had.
    public init?() {
        // Where `make test` puts what PyPI has.
        let made = HelperProcess.folder + "/../../.build/python/bin/python"
        server = HelperProcess(
            "objectstore.py", by: access(made, X_OK) == 0 ? made : "python3")
        let answer = server.line()
        let words = answer.split(separator: " ").map(String.init)
        guard words.count == 5, words[0] == "there" else {
            let reason = Array("Tests with an object store are left out: \(answer)\n".utf8)
            _ = write(2, reason, reason.count)
            return nil
        }
        endpoint = words[1]
        name = words[2]
        secureEndpoint = words[3]
        authorities = words[4]
    }

    /// A prefix that no other test uses.
    public static func newPrefix() -> String { "\(UUID().uuidString)/" }
}
