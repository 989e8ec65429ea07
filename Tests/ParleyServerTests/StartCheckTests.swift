import FoundationEssentials
import Testing

@testable import ParleyServer

@Suite struct `Errors that keep a server from starting` {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "parley-start-check-\(UUID().uuidString)").path()

    @Test func `are none with the defaults, and nothing is created`() throws {
        let data = "\(folder)/data"
        let check = StartCheck(reader(["data.folder=\(data)"]))
        #expect(check.errors().isEmpty)
        #expect(check.warnings().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func `a quota below the largest upload is warned about`() {
        let settings = ["uploads.application_quota=1MiB", "uploads.max_upload_size=2MiB"]
        let warnings = StartCheck(reader(settings)).warnings()
        #expect(warnings.count == 1)
        #expect(
            warnings.first?.contains(
                "uploads.application_quota is below uploads.max_upload_size (2097152 bytes)")
                == true)
    }

    @Test(arguments: [
        (
            ["s3.bucket=b", "s3.access_key=k", "s3.secret_key=s"],
            [
                "setting s3.bucket = b: must be 3 to 255 letters, digits, dots, hyphens and underscores (flag --set)"
            ]
        ),
        (
            ["s3.bucket=b"],
            [
                "setting s3.bucket = b: s3.bucket needs s3.access_key and s3.secret_key, or s3.credentials_file (flag --set)",
                "setting s3.bucket = b: must be 3 to 255 letters, digits, dots, hyphens and underscores (flag --set)",
            ]
        ),
        (
            ["s3.bucket=bucket", "s3.credentials_file=/nowhere/file", "s3.region=a b"],
            [
                "the file /nowhere/file of s3.credentials_file cannot be read",
                "setting s3.region = a b: must be 1 to 64 letters, digits, dots, hyphens and underscores (flag --set)",
            ]
        ),
        (
            [
                "s3.bucket=bucket", "s3.access_key=a/b", "s3.secret_key=s",
                "s3.authorities=/nowhere/ca.pem",
            ],
            [
                "setting s3.authorities = /nowhere/ca.pem: must name a PEM file: /nowhere/ca.pem cannot be read: No such file or directory (flag --set)",
                "setting s3.access_key = [hidden]: must be printable ASCII without blanks, commas, slashes and = (flag --set)",
            ]
        ),
        (
            [
                "tls.listen=127.0.0.1:0", "tls.certificates=/nowhere/cert.pem",
                "tls.keys=/nowhere/key.pem", "tls.client_certificates=required",
                "tls.client_bundle=/etc/hostname",
            ],
            [
                "setting tls.certificates = /nowhere/cert.pem: /nowhere/cert.pem cannot be read: No such file or directory (flag --set)",
                "setting tls.keys = /nowhere/key.pem: /nowhere/key.pem cannot be read: No such file or directory (flag --set)",
                "setting tls.client_bundle = /etc/hostname: /etc/hostname contains no certificate in PEM form (flag --set)",
            ]
        ),
        (
            ["webhooks.authorities=/etc"],
            [
                "setting webhooks.authorities = /etc: /etc cannot be read: Is a directory (flag --set)"
            ]
        ),
        (
            ["data.folder=/etc/hostname"],
            [
                "the data folder /etc/hostname is a file, not a folder: choose another with data.folder"
            ]
        ),
        (
            ["data.folder=/etc/hostname/data"],
            [
                "the data folder /etc/hostname/data cannot be created below a file: choose another with data.folder"
            ]
        ),
        (
            ["data.folder=/proc/none/data"],
            [
                "the data folder /proc/none/data cannot be created there (No such file or directory): choose another with data.folder"
            ]
        ),
        (
            ["database.url_file=/nowhere/url", "http.backlog=0"],
            [
                "setting http.backlog = 0: must be a whole number from 1 to 65535 (flag --set)",
                "the file /nowhere/url of database.url_file cannot be read",
            ]
        ),
        (
            ["http.listen=192.0.2.1:8080", "metrics.listen=unix:/nowhere/metrics.sock"],
            [
                "cannot listen on 192.0.2.1:8080: Cannot assign requested address: choose an address of this machine",
                "cannot listen on unix:/nowhere/metrics.sock: No such file or directory: create its folder, or choose another path",
            ]
        ),
        (
            ["http.listen=unix:/etc/hostname"],
            [
                "cannot listen on unix:/etc/hostname: there is a file that is no socket: choose another path, or remove the file"
            ]
        ),
    ]) func `are reported in one line each`(settings: [String], lines: [String]) {
        let data =
            settings.contains { $0.hasPrefix("data.folder=") } ? [] : ["data.folder=\(folder)"]
        #expect(StartCheck(reader(data + settings)).errors() == lines)
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func `include a certificate with the key of another one`() throws {
        defer { Repository.remove(folder) }
        for name in ["one", "two"] {
            _ = try Command.makeDevelopmentCertificate(in: "\(folder)/\(name)", hosts: [])
        }
        let flags = { (key: String) in
            [
                "data.folder=\(folder)/data", "tls.listen=127.0.0.1:0",
                "tls.certificates=\(folder)/one/cert.pem", "tls.keys=\(folder)/\(key)/key.pem",
            ]
        }
        #expect(StartCheck(reader(flags("one"))).errors().isEmpty)
        let errors = StartCheck(reader(flags("two"))).errors()
        #expect(errors.count == 1)
        #expect(errors.first?.contains("does not belong to the certificate \(folder)/one") == true)
    }

    @Test func `include damaged download keys`() async throws {
        let testServer = TestServer()
        try await testServer.components().close()
        let flags = ["data.folder=\(testServer.path)"]
        #expect(StartCheck(reader(flags)).errors().isEmpty)
        try Repository.write("no keys", to: "\(testServer.path)/download-keys")
        #expect(
            StartCheck(reader(flags)).errors() == [
                "the file \(testServer.path)/download-keys does not contain valid keys"
            ])
    }

    private func reader(_ settings: [String]) -> SettingsReader {
        SettingsReader(
            SettingsSources(
                flags: settings.map { text in
                    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
                    return SettingsSources.Flag(parts[0], parts[1], name: "--set")
                }))
    }
}
