import Testing

@testable import ParleyServer

@Suite struct `The table of settings` {
    @Test func `names each setting once`() {
        #expect(Set(Settings.table.map(\.key)).count == Settings.table.count)
        #expect(Set(Settings.table.map(\.environmentName)).count == Settings.table.count)
    }

    @Test func `gives the environment the names that others rely on`() {
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

    @Test func `has defaults that read back as themselves`() {
        let reader = SettingsReader(
            SettingsSources(
                file: SettingsSources.File(
                    path: "default", octets: Array(Settings.defaultFile.utf8))))
        #expect(reader.mistakes.isEmpty)
        for setting in Settings.table {
            #expect(setting.read(reader.settings) == setting.defaultValue, "\(setting.key)")
        }
    }

    @Test func `is what Config/parley.json holds`() throws {
        #expect(try Repository.text("Config/parley.json") == Settings.defaultFile)
    }

    @Test func `is what the article Settings shows`() throws {
        #expect(try Repository.article("Settings").contains(Settings.markdownTable))
    }
}
