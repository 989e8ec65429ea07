import JSON
import Testing

/// What `JSON.stringify(JSON.parse(text))` makes of a text: members in the order in which JavaScript
/// keeps them, as ECMA-262 (OrdinaryOwnPropertyKeys) has it, strings with its escapes, no white space.
func reserialized(_ value: JSONValue) -> [UInt8] {
    switch value.kind {
    case .object:
        var indices: [(UInt64, [UInt8])] = []
        var others: [[UInt8]] = []
        for (key, value) in value.members {
            let member = quoted(key) + [UInt8(ascii: ":")] + reserialized(value)
            if let number = UInt64(key), "\(number)" == key, number < 4_294_967_295 {
                indices.append((number, member))
            } else {
                others.append(member)
            }
        }
        let members = indices.sorted { $0.0 < $1.0 }.map(\.1) + others
        return [UInt8(ascii: "{")] + Array(members.joined(separator: [UInt8(ascii: ",")]))
            + [UInt8(ascii: "}")]
    case .array:
        return [UInt8(ascii: "[")]
            + Array(value.elements.map(reserialized).joined(separator: [UInt8(ascii: ",")]))
            + [UInt8(ascii: "]")]
    case .string: return quoted(value.string ?? "")
    default: return Array(value.description.utf8)
    }
}

private func quoted(_ text: String) -> [UInt8] {
    var octets = [UInt8(ascii: "\"")]
    for scalar in text.unicodeScalars {
        switch scalar.value {
        case 0x22: octets += Array(#"\""#.utf8)
        case 0x5C: octets += Array(#"\\"#.utf8)
        case 0x08: octets += Array(#"\b"#.utf8)
        case 0x09: octets += Array(#"\t"#.utf8)
        case 0x0A: octets += Array(#"\n"#.utf8)
        case 0x0C: octets += Array(#"\f"#.utf8)
        case 0x0D: octets += Array(#"\r"#.utf8)
        case 0..<0x20:
            let digits = String(scalar.value, radix: 16)
            octets += Array(
                (#"\u"# + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
        default: octets += Array(String(Character(scalar)).utf8)
        }
    }
    return octets + [UInt8(ascii: "\"")]
}
