extension Command {
    /// Tells every mistake in the settings, with key, value, rule and origin.
    public static func checkConfig(_ sources: SettingsSources) throws -> Int32 {
        // A secret in a file of its own is a setting, too.
        try settings(sources).checkDatabaseLocation()
        say("\(Settings.table.count) settings in order")
        return 0
    }
}
