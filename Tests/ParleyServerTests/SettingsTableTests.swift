import Testing

@testable import ParleyServer

@Suite struct `The table of settings` {
    @Test func `names each setting once`() {
        #expect(Set(Settings.table.map(\.key)).count == Settings.table.count)
        #expect(Set(Settings.table.map(\.environmentName)).count == Settings.table.count)
    }

    @Test func `uses the documented environment variables`() {
        let names = Set(Settings.table.map(\.environmentName))
        #expect(
            names.isSuperset(of: [
                "PARLEY_APP_ID", "PARLEY_APP_TOKEN", "PARLEY_PUBLIC_URL",
                "PARLEY_UPLOADS_MAX_UPLOAD_SIZE", "PARLEY_UPLOADS_UPLOAD_PUBLIC_BASE",
                "PARLEY_UPLOADS_DOWNLOAD_URL_TTL", "PARLEY_UPLOADS_IDLE_TTL",
            ]))
    }

    @Test func `has a file for each secret`() {
        let keys = Set(Settings.table.map(\.key))
        for setting in Settings.table where setting.isSecret {
            #expect(keys.contains("\(setting.key)_file"))
        }
    }

    @Test func `has defaults that are read back unchanged`() {
        let reader = SettingsReader(
            SettingsSources(
                file: SettingsSources.File(
                    path: "default", bytes: Array(Settings.defaultFile.utf8))))
        #expect(reader.errors.isEmpty)
        for setting in Settings.table {
            #expect(setting.read(reader.settings) == setting.defaultValue, "\(setting.key)")
        }
    }

    @Test func `equals Config/parley.json`() throws {
        #expect(try Repository.text("Config/parley.json") == Settings.defaultFile)
    }

    @Test func `equals the table in the article Settings`() throws {
        #expect(try Repository.article("Settings").contains(Settings.markdownTable))
    }
}

@Suite struct `Reloaded settings` {
    @Test func `apply if they can, and report those that need a restart (H196)`() {
        let read = settings([
            "data.folder": "elsewhere", "log.level": "debug", "http.listen": "127.0.0.1:81",
            "http.header_timeout": "1s",
        ])
        let reload = SettingsReload(read, over: Settings())
        #expect(
            reload.changes == [
                SettingsReload.Change(key: "data.folder", isTaken: false),
                SettingsReload.Change(key: "log.level", isTaken: true),
                SettingsReload.Change(key: "http.listen", isTaken: false),
                SettingsReload.Change(key: "http.header_timeout", isTaken: true),
            ])
        #expect(value(of: "data.folder", in: reload.settings) == "data")
        #expect(value(of: "log.level", in: reload.settings) == "debug")
        #expect(value(of: "http.listen", in: reload.settings) == "127.0.0.1:8080")
        #expect(value(of: "http.header_timeout", in: reload.settings) == "1s")
        // Settings that need a restart are reported again; applied ones are not.
        #expect(
            SettingsReload(read, over: reload.settings).changes.map(\.isTaken) == [false, false])
    }

    @Test func `come from the same file and flags (H196)`() throws {
        let path = "\(TestServer().path).json"
        try Repository.write(#"{"http": {"header_timeout": "1s"}}"#, to: path)
        defer { Repository.remove(path) }
        let flag = SettingsSources.Flag("log.level", "error", name: "--log-level")
        let sources = try SettingsSources(file: path, flags: [flag])
        #expect(
            value(of: "http.header_timeout", in: SettingsReader(sources).settings) == "1s")
        try Repository.write(#"{"http": {"header_timeout": "2s"}}"#, to: path)
        let again = SettingsReader(try sources.reloaded()).settings
        #expect(value(of: "http.header_timeout", in: again) == "2s")
        #expect(value(of: "log.level", in: again) == "error")
        Repository.remove(path)
        #expect(throws: UnreadableSettings.self) { try sources.reloaded() }
    }

    private func settings(_ values: [String: String]) -> Settings {
        let flags = values.map { key, value in SettingsSources.Flag(key, value, name: "test") }
        return SettingsReader(SettingsSources(flags: flags)).settings
    }

    private func value(of key: String, in settings: Settings) -> String? {
        Settings.table.first { setting in setting.key == key }?.shown(in: settings)
    }
}
