import FoundationEssentials
import ObjectStore

extension Credentials {
    /// Reads a file as Amazon's tools write it: lines `name = value` under `[default]`.
    ///
    /// `nil` without the key or its secret.
    init?(file text: String) {
        var values: [String: String] = [:]
        var isDefault = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = Self.trimmed(line)
            if line.hasPrefix("[") {
                isDefault = line == "[default]"
            } else if isDefault, let equals = line.firstIndex(of: "=") {
                values[Self.trimmed(line[..<equals])] = Self.trimmed(
                    line[line.index(after: equals)...])
            }
        }
        guard let accessKey = values["aws_access_key_id"],
            let secretKey = values["aws_secret_access_key"]
        else { return nil }
        self.init(
            accessKey: accessKey, secretKey: secretKey, sessionToken: values["aws_session_token"])
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let start = text.drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
