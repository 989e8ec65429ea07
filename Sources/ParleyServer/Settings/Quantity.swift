/// Numbers with units, as people write them: `8KiB`, `20s`.
struct Quantity: Sendable {
    /// From the smallest to the largest; the first is what numbers are kept in.
    let units: [(name: String, size: Int64)]
    /// What a number without unit counts.
    let bare: Int64

    static let count = Quantity(units: [("", 1)], bare: 1)
    static let octets = Quantity(
        units: [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)],
        bare: 1)
    /// In milliseconds; a bare number counts seconds.
    static let time = Quantity(
        units: [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)],
        bare: 1000)

    /// Reads digits and a unit; `nil` for anything else and for numbers beyond 64 bits.
    func value(_ text: String) -> Int64? {
        let digits = text.prefix { character in character.isASCII && character.isNumber }
        let name = text[digits.endIndex...]
        guard let number = Int64(digits) else { return nil }
        let size = name.isEmpty ? bare : units.first { unit in unit.name == name }?.size
        guard let size else { return nil }
        let (product, isTooLarge) = number.multipliedReportingOverflow(by: size)
        return isTooLarge ? nil : product
    }

    /// Writes a number with the largest unit that needs no fraction.
    func text(_ number: Int64) -> String {
        let unit = units.last { unit in number % unit.size == 0 && number >= unit.size }
        return "\(number / (unit?.size ?? 1))\(unit?.name ?? units[0].name)"
    }
}
