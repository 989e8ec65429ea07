extension Command {
    /// Tells every mistake in the settings, with key, value, rule and origin, and warns of what is seldom
    /// meant.
    public static func checkConfig(_ sources: SettingsSources) throws -> Int32 {
        // A secret in a file of its own is a setting, too.
        let settings = try settings(sources)
        try settings.checkDatabaseLocation()
        for warning in SettingWarning.all(in: settings) { tell("parley: warning: \(warning)") }
        say("\(Settings.table.count) settings in order")
        return 0
    }
}
