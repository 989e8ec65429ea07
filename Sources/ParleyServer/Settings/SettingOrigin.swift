/// Where a value was said.
enum SettingOrigin: Hashable, Sendable, CustomStringConvertible {
    case preset
    case file(String, line: Int)
    case environment(String)
    case flag(String)

    var description: String {
        switch self {
        case .preset: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name): "environment \(name)"
        case .flag(let name): "flag \(name)"
        }
    }
}
