/// Numbered randomness: the same number gives the same values, so a failure names its repetition.
struct Generator: RandomNumberGenerator {
    private var state: UInt64

    init(_ number: UInt64) { state = number &* 0x9E37_79B9_7F4A_7C15 &+ 0xD1B5_4A32_D192_ED03 }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &self) }

    mutating func one<Element>(of choices: [Element]) -> Element {
        choices[number(0...choices.count - 1)]
    }

    /// Places where an input of that length is cut, in order, the end included.
    mutating func cuts(of length: Int) -> [Int] {
        (0..<number(0...6)).map { _ in number(0...length) }.sorted() + [length]
    }

    /// A small change of a message: an octet lost, doubled, replaced, put in; lines swapped or repeated.
    mutating func mutation(of message: [UInt8]) -> [UInt8] {
        var changed = message
        for _ in 0..<number(1...3) where !changed.isEmpty {
            let place = number(0...changed.count - 1)
            switch number(0...6) {
            case 0: changed.remove(at: place)
            case 1: changed.insert(changed[place], at: place)
            case 2: changed[place] = UInt8(number(0...255))
            case 3: changed.insert(one(of: Array("\r\n\t :,;\"\\%0/*[]\u{0}".utf8)), at: place)
            case 4: changed.removeSubrange(place..<min(changed.count, place + number(1...9)))
            case 5: changed += changed[place...]
            default:
                var lines = changed.split(separator: 10, omittingEmptySubsequences: false)
                lines.swapAt(number(0...lines.count - 1), number(0...lines.count - 1))
                changed = Array(lines.joined(separator: [10]))
            }
        }
        return changed
    }
}
