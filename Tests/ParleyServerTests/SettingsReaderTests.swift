import FoundationEssentials
import Testing

@testable import ParleyServer

@Suite struct `Reading settings` {
    @Test func `prefers flags, then the environment, then the file, then defaults`() {
        let file = #"{"http": {"keep_alive_timeout": "1s", "header_timeout": "2s", "backlog": 7}}"#
        let environment = [
            "PARLEY_HTTP_KEEP_ALIVE_TIMEOUT": "3s", "PARLEY_HTTP_HEADER_TIMEOUT": "4",
        ]
        let flags = [SettingsSources.Flag("http.keep_alive_timeout", "500ms", name: "--set")]
        let reader = read(file, environment, flags)
        #expect(reader.errors.isEmpty)
        expectValue("500ms", of: "http.keep_alive_timeout", in: reader)
        expectValue("4s", of: "http.header_timeout", in: reader)
        expectValue("7", of: "http.backlog", in: reader)
        expectValue("256KiB", of: "http.max_drain", in: reader)
    }

    @Test func `reports every error at once, with key, value, rule and origin`() {
        let file = """
            {
              "http": { "header_timeout": 0, "heder_timeout": "1s" },
              "log.level": 1,
              "uploads": "many", "tls": {}, "tsl": {}
            }
            """
        let environment = ["PARLEY_LOG_LEVEL": "loud"]
        let flags = [
            SettingsSources.Flag("http.listen", "somewhere", name: "--listen"),
            SettingsSources.Flag("http.lisetn", "127.0.0.1:80", name: "--set"),
        ]
        #expect(
            read(file, environment, flags).errors.map(\.description) == [
                "http.header_timeout = 0: must be a time such as 20s, from 1ms to 1d (parley.json:2)",
                "http.heder_timeout: there is no such setting; the nearest is http.header_timeout (parley.json:2)",
                "log.level = 1: must be one of trace, debug, info, notice, warning, error, critical (parley.json:3)",
                "uploads: is a group of settings, such as uploads.max_upload_size (parley.json:4)",
                "tsl: there is no such setting; the nearest is tls (parley.json:4)",
                "log.level = loud: must be one of trace, debug, info, notice, warning, error, critical (environment PARLEY_LOG_LEVEL)",
                "http.listen = somewhere: must be addresses such as 127.0.0.1:8080, [::]:8080 or unix:/run/parley.sock (flag --listen)",
                "http.lisetn = 127.0.0.1:80: there is no such setting; the nearest is http.listen (flag --set)",
            ])
    }

    @Test(arguments: [
        ("http.max_header_line", "1MiB"), ("http.body_idle_timeout", "61s"),
        ("http.request_timeout", "14s"), ("app.id", "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"),
        ("app.token", "0123456789abcdef"), ("http.listen", "127.0.0.1:0"),
        ("http.proxy_protocol", "required"), ("http.forwarded_from", "x-forwarded"),
        ("http.handler_timeout", "61s"), ("http.queue_timeout", "61s"),
        ("metrics.listen", "127.0.0.1:8080"),
    ]) func `rejects values that contradict each other`(key: String, value: String) {
        let errors = read(nil, [:], [SettingsSources.Flag(key, value, name: "--set")]).errors
        #expect(
            !errors.isEmpty
                && errors.allSatisfy { $0.key == key && $0.origin == .flag("--set") })
        // Each names the setting it conflicts with.
        #expect(
            errors.allSatisfy {
                $0.rule.matches(of: /[a-z0-9]+\.[a-z_]+|public_url/).count >= 2 || key == "app.id"
            })
    }

    @Test(arguments: [
        (
            ["http.allowed_hosts=chat.example.org", "public_url=https://Chat.example.com:8443/x"],
            ["http.allowed_hosts"]
        ),
        (
            ["http.allowed_hosts=chat.example.com", "public_url=https://Chat.example.com:8443/x"],
            []
        ),
        (["http.allowed_hosts=[::1]", "public_url=http://[::1]:8080"], []),
        (["tls.hsts_max_age=1d", "public_url=http://chat.example.com"], ["tls.hsts_max_age"]),
        (["tls.hsts_max_age=1d", "public_url=https://chat.example.com"], []),
        (["tls.certificates=a.pem", "tls.keys=b.pem"], ["tls.certificates"]),
        (["tls.listen=127.0.0.1:8443"], ["tls.listen"]),
        (["api.rate_limit=0", "api.rate_burst=1"], []),
        (["api.rate_limit=1000000"], []),
        (["uploads.application_quota=1GiB"], []),
        (
            ["http.listen=127.0.0.1:1", "tls.redirect_listen=127.0.0.1:1", "public_url=https://a"],
            ["tls.redirect_listen"]
        ),
        (["http.listen=0.0.0.0:1", "metrics.listen=127.0.0.1:1"], ["metrics.listen"]),
        (["http.listen=127.0.0.1:1", "metrics.listen=[::]:1"], ["metrics.listen"]),
        (["http.listen=[::1]:1", "metrics.listen=[::]:1"], ["metrics.listen"]),
        (["http.listen=[::1]:1", "metrics.listen=0.0.0.0:1"], []),
        (["http.listen=127.0.0.1:1", "metrics.listen=127.0.0.2:1"], []),
        (["http.listen=0.0.0.0:1", "metrics.listen=127.0.0.1:2"], []),
        (["http.listen=unix:/a", "metrics.listen=unix:/a"], ["metrics.listen"]),
    ]) func `rejects settings that cannot work together`(values: [String], named: [String]) {
        let flags = values.map { text in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            return SettingsSources.Flag(parts[0], parts[1], name: "--set")
        }
        #expect(read(nil, [:], flags).errors.map(\.key) == named)
    }

    @Test(arguments: [
        ("http.max_connections", "0"), ("http.max_connections", "-1"), ("http.backlog", "1KiB"),
        ("http.max_linger", "0"), ("http.max_linger", "99999999999999999999"),
        ("http.max_linger", "9223372036854775807KiB"), ("http.drain_timeout", "5 s"),
        ("http.drain_timeout", "1.5s"), ("http.drain_timeout", ""), ("http.listen", ""),
        ("http.listen", "127.0.0.1:65536"), ("public_url", "example.com"),
        ("public_url", "https://a/?b"), ("public_url", "http:///x"), ("public_url", "http://:80"),
        ("public_url", "https://a:b"), ("public_url", "https://a:0"),
        ("public_url", "https://a:65536/x"), ("public_url", "https://a:"),
        ("public_url", "https://[::1"), ("public_url", "https://::1"),
        ("public_url", "https://a..b/x"), ("public_url", "https://a,b"),
        ("http.allowed_hosts", "chat.example.com:443"),
        ("http.allowed_hosts", "https://chat.example.com"),
        ("http.allowed_hosts", "::1"),
        ("data.folder", ""),
        ("app.id", "7b2e4c1a"), ("app.token", "short"), ("log.requests", "yes"),
        ("http.trusted_proxies", "10.0.0.1/8"), ("http.trusted_proxies", "proxy.example.com"),
        ("http.forwarded_from", "x-real-ip"), ("http.proxy_protocol", "on"),
        ("http.max_forwarded_hops", "0"), ("http.handler_timeout", "0"),
        ("http.max_concurrent_requests", "0"), ("http.max_queue", "0"),
        ("http.max_buffered_bodies", "1023KiB"), ("api.max_participants", "0"),
        ("api.max_participants", "100001"), ("api.wide_conversation", "0"),
        ("api.wide_conversation", "100001"), ("uploads.max_upload_size", "2047"),
        ("http.min_write_rate", "0"),
        ("http.max_connections_per_address", "0"), ("http.queue_timeout", "-1s"),
        ("database.url", ""), ("database.url", "mysql://db/parley"),
        ("database.url", "postgres://a b/parley"), ("database.url", "postgres://me:p@ss@db/parley"),
        ("database.url", "postgres://me:p/ss@db/parley"),
    ]) func `rejects values that break their rule`(key: String, value: String) {
        let errors = read(nil, [:], [SettingsSources.Flag(key, value, name: "--set")]).errors
        #expect(errors.first?.key == key)
    }

    @Test func `accepts lists of proxies, and an empty one`() {
        let proxies = SettingsSources.Flag(
            "http.trusted_proxies", "10.0.0.0/8, ::1,unix", name: "--set")
        let reader = read(nil, [:], [proxies])
        #expect(reader.errors.isEmpty)
        expectValue("10.0.0.0/8,::1,unix", of: "http.trusted_proxies", in: reader)
        #expect(read(#"{"http": {"trusted_proxies": []}}"#, [:], []).errors.isEmpty)
    }

    @Test func `never shows a secret`() {
        let environment = [
            "PARLEY_APP_TOKEN": "s3cret", "PARLEY_DATABASE_URL": "postgres://me:s3cret@db@/parley",
        ]
        let errors = read(nil, environment, []).errors
        #expect(errors.map(\.value) == ["[hidden]", "[hidden]"])
        let both = [
            "PARLEY_DATABASE_URL": "postgres://me:s3cret@db/parley",
            "PARLEY_DATABASE_URL_FILE": "/run/secrets/database",
        ]
        let conflicts = read(nil, both, []).errors
        #expect(conflicts.map(\.key) == ["database.url_file"])
        #expect(!"\(conflicts)".contains("s3cret"))
    }

    @Test(arguments: [
        "app.token", "metrics.token", "s3.access_key", "s3.secret_key", "s3.session_token",
    ]) func `reads a secret from a file`(key: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        defer { Repository.remove(file) }
        let named = SettingsSources.Flag("\(key)_file", file, name: "--set")
        // A token without its application is an error.
        let application = SettingsSources.Flag(
            "app.id", "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55", name: "--set")
        let flags = key == "app.token" ? [application, named] : [named]
        #expect(
            read(nil, [:], flags).errors.map(\.description) == [
                "\(key)_file = \(file): must name a file that can be read (flag --set)"
            ])
        try Repository.write("an-open-sesame-of-tests\n", to: file)
        let reader = read(nil, [:], flags)
        #expect(reader.errors.isEmpty)
        expectValue("an-open-sesame-of-tests", of: key, in: reader)
        let both = SettingsSources.Flag(key, "another-sesame-of-tests", name: "--set")
        #expect(
            read(nil, [:], flags + [both]).errors.map(\.rule) == [
                "\(key) and \(key)_file must not be given together"
            ])
        for content in ["", "\n", "two sesame words\nand a line"] {
            try Repository.write(content, to: file)
            let errors = read(nil, [:], flags).errors
            #expect(errors.map(\.key) == ["\(key)_file"])
            #expect(errors.first?.rule.hasPrefix("must name a file that contains ") == true)
            #expect(!"\(errors)".contains("sesame"))
        }
    }

    @Test func `refuses variables of an unknown name, and names the nearest`() {
        let environment = [
            "PARLEY_APP_TOKN": "a-secret-of-tests", "PARLEY_HTTP_LISTN": "127.0.0.1:80",
            "PARLEY_HTTP_PORT": "8080", "PARLEY_": "x", "PARLEY_COLOR": "",
            "PARLEY_TEST_DATABASE": "postgres", "PARLEYS": "x", "PARLEY_PORT": "tcp://10.0.0.1:80",
            "PARLEY_PORT_80_TCP_ADDR": "10.0.0.1", "PARLEY_SERVICE_HOST": "10.0.0.1",
            "PARLEY_SERVICE_PORT_HTTP": "80", "PARLEY_DB_PORT": "tcp://10.0.0.2:5432",
            "PARLEY_DB_PORT_5432_TCP": "tcp://10.0.0.2:5432", "PARLEY_DB_SERVICE_HOST": "10.0.0.2",
        ]
        let errors = read(nil, environment, []).errors
        #expect(
            errors.map(\.key) == [
                "PARLEY_", "PARLEY_APP_TOKN", "PARLEY_HTTP_LISTN", "PARLEY_HTTP_PORT",
            ])
        #expect(
            errors.dropFirst().prefix(2).map(\.description) == [
                "PARLEY_APP_TOKN: there is no such variable; the nearest is PARLEY_APP_TOKEN (environment PARLEY_APP_TOKN)",
                "PARLEY_HTTP_LISTN: there is no such variable; the nearest is PARLEY_HTTP_LISTEN (environment PARLEY_HTTP_LISTN)",
            ])
    }

    @Test func `accepts a variable of any length`() {
        let name = "PARLEY_" + String(repeating: "A", count: 100_000)
        #expect(read(nil, [name: "x"], []).errors.map(\.key) == [name])
    }

    @Test func `treats an empty variable as not set`() {
        #expect(read(nil, ["PARLEY_APP_ID": "", "PARLEY_APP_TOKEN": ""], []).errors.isEmpty)
    }

    @Test(arguments: ["", "[]", "{\"http\":", "{\"a\":1,\"a\":2}"])
    func `refuses a file that is no object with unique names`(text: String) {
        #expect(read(text, [:], []).errors.first?.key == "file")
    }

    @Test func `removes trailing slashes of a base URL`() {
        let flag = SettingsSources.Flag(
            "public_url", "https://chat.example.com/base//", name: "--set")
        #expect(read(nil, [:], [flag]).settings.publicURL == "https://chat.example.com/base")
    }

    private func expectValue(
        _ text: String, of key: String, in reader: SettingsReader,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let setting = Settings.table.first { setting in setting.key == key }
        #expect(setting?.shown(in: reader.settings) == text, sourceLocation: sourceLocation)
    }

    private func read(
        _ file: String?, _ environment: [String: String], _ flags: [SettingsSources.Flag]
    ) -> SettingsReader {
        SettingsReader(
            SettingsSources(
                file: file.map { text in
                    SettingsSources.File(path: "parley.json", bytes: Array(text.utf8))
                }, environment: environment, flags: flags))
    }
}
