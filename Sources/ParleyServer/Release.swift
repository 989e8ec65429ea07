/// What this program calls itself.
public enum Release {
    /// Its name.
    public static let name = "Parley"
    /// Its version, as semver.org orders them.
    public static let version = "0.1.0"
}
