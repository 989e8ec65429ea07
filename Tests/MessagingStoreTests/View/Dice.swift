/// Throws the same numbers for the same seed (SplitMix64), so a failure names its own repetition.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &self)
    }

    /// True once in so many throws.
    mutating func one(in many: Int) -> Bool { number(1...many) == 1 }

    mutating func some<Element>(of elements: [Element]) -> [Element] {
        elements.filter { _ in one(in: 2) }.shuffled(using: &self)
    }
}
