/// A setting that cannot be meant, and the rule it breaks.
public struct SettingMistake: Sendable, Equatable {
    /// The setting's name in ``ObjectStoreSettings``.
    public let setting: String
    /// What it must be, as the end of a sentence that begins with its name.
    public let rule: String
}

extension ObjectStoreSettings {
    /// Everything that is wrong with these settings, as far as one sees without asking the store.
    public func mistakes() -> [SettingMistake] {
        var mistakes: [SettingMistake] = []
        func demand(_ isTrue: Bool, _ setting: String, _ rule: String) {
            if !isTrue { mistakes.append(SettingMistake(setting: setting, rule: rule)) }
        }
        let place = Endpoint(endpoint)
        demand(
            place != nil, "endpoint",
            "must be http:// or https://, a host and perhaps a port and a path, and nothing more")
        demand(
            Self.isName(region, atMost: 64), "region",
            "must be 1 to 64 letters, digits, dots, hyphens and underscores")
        switch style {
        case .path:
            demand(
                Self.isName(bucket, atMost: 255) && bucket.utf8.count >= 3, "bucket",
                "must be 3 to 255 letters, digits, dots, hyphens and underscores")
        case .virtualHost:
            demand(
                Self.isHostName(bucket), "bucket",
                "must be 3 to 63 lower-case letters, digits, dots and hyphens, to stand in a host name"
            )
            demand(
                place?.isAddress != true, "endpoint",
                "must be a name and no address, for a bucket's name to stand before it")
        }
        demand(
            prefix.isEmpty || Self.isPrefix(prefix), "prefix",
            "must be up to 512 octets of text, without control characters, a leading slash, "
                + "an empty segment, . and ..")
        demand(
            Self.isPrintable(credentials.accessKey)
                && !credentials.accessKey.utf8.contains(where: { ",/=".utf8.contains($0) }),
            "accessKey", "must be printable ASCII without blanks, commas, slashes and =")
        demand(!credentials.secretKey.isEmpty, "secretKey", "must not be empty")
        demand(
            credentials.sessionToken.map(Self.isPrintable) ?? true, "sessionToken",
            "must be printable ASCII without blanks")
        demand(
            !leavesPayloadUnsigned || place?.isSecure != false, "leavesPayloadUnsigned",
            "is for https only: nothing else would notice a changed body")
        demand((1...100).contains(attempts), "attempts", "must be 1 to 100")
        return mistakes
    }

    private static func isName(_ text: String, atMost limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.utf8.allSatisfy { octet in isAlphanumeric(octet) || "._-".utf8.contains(octet) }
            && text != "." && text != ".."
    }

    private static func isHostName(_ text: String) -> Bool {
        (3...63).contains(text.utf8.count)
            && text == text.lowercased()
            && text.utf8.allSatisfy { octet in isAlphanumeric(octet) || ".-".utf8.contains(octet) }
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                !label.isEmpty && !label.hasPrefix("-") && !label.hasSuffix("-")
            }
    }

    private static func isPrefix(_ text: String) -> Bool {
        // Whatever stands behind the last slash goes on in the key.
        ObjectKey(text + "x") != nil
    }

    private static func isPrintable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func isAlphanumeric(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
