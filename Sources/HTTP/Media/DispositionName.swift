/// The file name in a `Content-Disposition` (RFC 6266), as a client says it: to be cleaned.
public enum DispositionName {
    /// `filename*` before `filename`; `nil` when there is neither, or none that can be read.
    public static func read(_ value: String) -> String? {
        let parameters = parameters(of: value)
        if let text = parameters["filename*"], let name = extended(text) { return name }
        return parameters["filename"]
    }

    /// Name and value of each parameter, quotes and their escapes undone.
    private static func parameters(of value: String) -> [String: String] {
        var parameters: [String: String] = [:]
        var (name, text) = ("", "")
        var (isValue, isQuoted, isEscaped) = (false, false, false)
        for scalar in value.unicodeScalars.map(Character.init) + [";"] {
            if isEscaped {
                // Before anything else than a quote it is what stands between folders: clients that send
                // a whole path do not double it.
                if scalar != "\"" && scalar != "\\" { text.append("\\") }
                text.append(scalar)
                isEscaped = false
            } else if isQuoted && scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" && isValue {
                isQuoted.toggle()
            } else if isQuoted {
                text.append(scalar)
            } else if scalar == ";" {
                let key = name.trimmed.lowercased()
                if isValue && parameters[key] == nil { parameters[key] = String(text.trimmed) }
                (name, text, isValue) = ("", "", false)
            } else if scalar == "=" && !isValue {
                isValue = true
            } else if isValue {
                text.append(scalar)
            } else {
                name.append(scalar)
            }
        }
        return parameters
    }

    /// `UTF-8''a%20b` (RFC 8187).
    private static func extended(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return String(percentDecoding: parts[2].utf8, allowsNUL: true)
    }
}
