internal import FoundationEssentials

/// Bytes that depend on their position, so that a moved or repeated piece is detected.
public func patternBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { index in
        UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8 &* 17 &+ index >> 16)
    }
}

/// A random number generator with a seed: the same seed gives the same values, so that a failure
/// can be repeated.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Creates the generator of a seed.
    public init(_ number: UInt64) { state = number &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    /// SplitMix64.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Random bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// A number in a range.
    public mutating func number(_ range: ClosedRange<Int>) -> Int {
        .random(in: range, using: &self)
    }

    /// A number from 0 up to, not including, the limit.
    public mutating func below(_ limit: Int) -> Int { .random(in: 0..<limit, using: &self) }

    /// One of the choices, which must not be empty.
    public mutating func one<Element>(of choices: [Element]) -> Element {
        choices[below(choices.count)]
    }

    /// True once in `many` times, on average.
    public mutating func once(in many: Int) -> Bool { number(1...many) == 1 }

    /// About half of the elements, in random order.
    public mutating func some<Element>(of elements: [Element]) -> [Element] {
        elements.filter { _ in once(in: 2) }.shuffled(using: &self)
    }

    /// A list of random length with generated elements.
    public mutating func list<Element>(
        _ sizes: ClosedRange<Int>, of make: (inout SeededGenerator) -> Element
    ) -> [Element] {
        (0..<number(sizes)).map { _ in make(&self) }
    }

    /// Positions at which to cut an input of that length, ascending, the end included.
    public mutating func cuts(of length: Int) -> [Int] {
        list(0...6) { random in random.below(length + 1) }.sorted() + [length]
    }

    /// A small mutation of a message: bytes removed, doubled, replaced or inserted; the end removed;
    /// lines swapped or repeated.
    public mutating func mutation(of message: [UInt8]) -> [UInt8] {
        var changed = message
        for _ in 0..<number(1...3) where !changed.isEmpty {
            let index = below(changed.count)
            switch below(8) {
            case 0: changed.remove(at: index)
            case 1: changed.insert(changed[index], at: index)
            case 2: changed[index] = UInt8(below(256))
            case 3: changed.insert(one(of: Array("\r\n\t :,;\"\\%0f/*[]\u{0}".utf8)), at: index)
            case 4: changed.removeSubrange(index..<min(changed.count, index + number(1...9)))
            case 5: changed += changed[index...]
            case 6: changed.removeLast(below(changed.count + 1))
            default:
                var lines = changed.split(separator: 10, omittingEmptySubsequences: false)
                lines.swapAt(below(lines.count), below(lines.count))
                changed = Array(lines.joined(separator: [10]))
            }
        }
        return changed
    }
}

/// How much of a test with many similar cases runs.
public enum TestRounds {
    /// Whether all of them run, as in `make soak`; `make test` runs some.
    public static let areAll = ProcessInfo.processInfo.environment["PARLEY_TEST_ROUNDS"] == "all"

    /// The first seeds of a random test, or all.
    public static func seeds(_ some: UInt64, of all: UInt64) -> ClosedRange<UInt64> {
        1...(areAll ? all : some)
    }

    /// Some rounds of a test, or all.
    public static func number(_ some: Int, of all: Int) -> Int { areAll ? all : some }
}
