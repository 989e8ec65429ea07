extension Command {
    /// Tells every mistake in the settings, with key, value, rule and origin.
    public static func checkConfig(_ sources: SettingsSources) throws -> Int32 {
        _ = try settings(sources)
        say("\(Settings.table.count) settings in order")
        return 0
    }
}
