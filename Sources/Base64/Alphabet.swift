/// Sixty-four characters and what each of them stands for.
struct Alphabet: Sendable {
    /// The value of an octet outside the alphabet.
    static let foreign: UInt8 = 255

    let digits: [UInt8]
    /// 0…63 for a character of the alphabet, ``foreign`` for any other octet.
    let values: [UInt8]

    /// The letters, the digits and two more characters.
    init(_ lastTwo: String) {
        digits = Array(
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + lastTwo).utf8)
        var values = [UInt8](repeating: Self.foreign, count: 256)
        for (value, character) in digits.enumerated() { values[Int(character)] = UInt8(value) }
        self.values = values
    }
}
