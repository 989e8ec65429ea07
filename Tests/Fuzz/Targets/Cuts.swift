/// Random positions at which an input is split, derived from the input itself, so that the same input is
/// always split in the same way.
struct Cuts {
    private var state: UInt64

    init(of input: [UInt8]) {
        state = input.reduce(0xCBF2_9CE4_8422_2325) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
    }

    /// The next number from 0 to below `limit`, by SplitMix64; 0 for a limit below 1.
    mutating func number(below limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ mixed >> 31) % UInt64(max(limit, 1)))
    }

    /// Three splits of an input: whole, byte by byte, and at up to six positions. A split lists the ends of
    /// its pieces.
    static func splits(of input: [UInt8]) -> [[Int]] {
        var random = Cuts(of: input)
        let some = (0..<random.number(below: 7)).map { _ in random.number(below: input.count + 1) }
        return [[input.count], Array(0...input.count), some.sorted() + [input.count]]
    }
}
