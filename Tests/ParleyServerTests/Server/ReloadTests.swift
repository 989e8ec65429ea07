import Testing

@testable import ParleyServer

@Suite struct `Settings read again` {
    @Test func `hold where they may, and say where they need a restart (H196)`() {
        let read = settings([
            "data.folder": "elsewhere", "log.level": "debug", "http.listen": "127.0.0.1:81",
            "http.header_timeout": "1s",
        ])
        let reload = Reload(read, over: Settings())
        #expect(
            reload.changes == [
                Reload.Change(key: "data.folder", isTaken: false),
                Reload.Change(key: "log.level", isTaken: true),
                Reload.Change(key: "http.listen", isTaken: false),
                Reload.Change(key: "http.header_timeout", isTaken: true),
            ])
        #expect(value(of: "data.folder", in: reload.settings) == "data")
        #expect(value(of: "log.level", in: reload.settings) == "debug")
        #expect(value(of: "http.listen", in: reload.settings) == "127.0.0.1:8080")
        #expect(value(of: "http.header_timeout", in: reload.settings) == "1s")
        // What needs a restart is said again; what holds is not.
        #expect(Reload(read, over: reload.settings).changes.map(\.isTaken) == [false, false])
    }

    @Test func `come from the same file and flags (H196)`() throws {
        let path = "\(Scratch().path).json"
        try Repository.write(#"{"http": {"header_timeout": "1s"}}"#, to: path)
        defer { Repository.remove(path) }
        let flag = SettingsSources.Flag("log.level", "error", name: "--log-level")
        let sources = try SettingsSources(file: path, flags: [flag])
        #expect(
            value(of: "http.header_timeout", in: SettingsReader(sources).settings) == "1s")
        try Repository.write(#"{"http": {"header_timeout": "2s"}}"#, to: path)
        let again = SettingsReader(try sources.again()).settings
        #expect(value(of: "http.header_timeout", in: again) == "2s")
        #expect(value(of: "log.level", in: again) == "error")
        Repository.remove(path)
        #expect(throws: UnreadableSettings.self) { try sources.again() }
    }

    private func settings(_ values: [String: String]) -> Settings {
        let flags = values.map { key, value in SettingsSources.Flag(key, value, name: "test") }
        return SettingsReader(SettingsSources(flags: flags)).settings
    }

    private func value(of key: String, in settings: Settings) -> String? {
        Settings.table.first { setting in setting.key == key }?.shown(in: settings)
    }
}
