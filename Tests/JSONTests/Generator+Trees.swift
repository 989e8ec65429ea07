import TestSupport

extension Generator {
    mutating func text() -> String {
        let kinds: [ClosedRange<UInt32>] = [
            0x00...0x1F, 0x20...0x7F, 0x22...0x22, 0x5C...0x5C, 0x80...0x7FF, 0x800...0xD7FF,
            0xE000...0xFFFF, 0x1_0000...0x10_FFFF, 0x41...0x5A, 0x61...0x7A, 0x61...0x7A,
        ]
        var scalars = String.UnicodeScalarView()
        for _ in 0..<below(24) {
            let kind = kinds[below(kinds.count)]
            scalars.append(Unicode.Scalar(UInt32.random(in: kind, using: &self)) ?? "?")
        }
        return String(scalars)
    }

    mutating func tree(depth: Int = 4) -> Tree {
        switch below(depth > 0 ? 7 : 4) {
        case 0: return .null
        case 1: return .bool(.random(using: &self))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &self) >> below(64))
        case 3: return .text(text())
        case 4: return .array((0..<below(5)).map { _ in tree(depth: depth - 1) })
        default:
            var names: Set<[UInt8]> = []
            for _ in 0..<below(14) { names.insert(Array(text().utf8)) }
            let ordered = names.sorted { $0.lexicographicallyPrecedes($1) }
            return .object(
                ordered.map { Tree.Member(name: $0, value: tree(depth: depth - 1)) })
        }
    }
}
