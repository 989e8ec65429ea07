import FoundationEssentials
import HTTPTransport

extension Command {
    /// Makes a certificate for trying TLS on one's own machine, and says how to use it.
    ///
    /// - Parameters:
    ///   - folder: Made when missing; gets `cert.pem` and `key.pem`.
    ///   - hosts: Names beside `localhost`, `127.0.0.1` and `::1`.
    public static func makeDevelopmentCertificate(in folder: String, hosts: [String]) throws
        -> Int32
    {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw StartFailure("the folder \(folder) cannot be made")
        }
        do {
            let pair = try DevelopmentCertificate.write(to: folder, hosts: hosts)
            say(
                """
                \(pair.chain) and \(pair.key) are good for a year, on this machine only.

                parley serve --set tls.listen=127.0.0.1:8443 \\
                    --set tls.certificates=\(pair.chain) --set tls.keys=\(pair.key)
                curl --cacert \(pair.chain) https://localhost:8443/health/ready
                """)
        } catch {
            throw StartFailure("\(error)")
        }
        return 0
    }
}
