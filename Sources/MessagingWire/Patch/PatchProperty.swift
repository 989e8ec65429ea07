import Messaging

/// What a patch operation works on: the dotted path in `property` (platform-api §4).
enum PatchProperty {
    case participants
    /// Keys from the root of the tree; empty for the whole tree.
    case metadata([String])

    /// Reads a path; `\.` stands for a dot inside a key.
    ///
    /// - Returns: `nil` when the first element is no property that can be patched.
    init?(_ text: String) {
        let path = PatchProperty.split(text)
        switch path.first {
        case "participants" where path.count == 1: self = .participants
        case "metadata": self = .metadata(Array(path.dropFirst()))
        default: return nil
        }
    }

    /// The elements of a dotted path; one at least.
    static func split(_ text: String) -> [String] {
        var path: [String.UnicodeScalarView] = [.init()]
        var isEscaped = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "." where !isEscaped: path.append(.init())
            case ".": path[path.count - 1].append(scalar)
            default:
                // A backslash before anything but a dot stands for itself.
                if isEscaped { path[path.count - 1].append("\\") }
                path[path.count - 1].append(scalar)
            }
            isEscaped = false
        }
        if isEscaped { path[path.count - 1].append("\\") }
        return path.map(String.init)
    }
}
