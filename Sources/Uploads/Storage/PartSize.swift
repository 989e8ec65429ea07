/// How long the parts of a content are in a bucket: chosen once for each upload (§10.2).
///
/// All parts but the last have exactly this size, so they can never be more than 10,000, whatever
/// interruptions do.
enum PartSize {
    /// Of the shortest parts there are.
    static let least: Int64 = 8 << 20
    /// More than any upload has, as a bound for what a record or a journal states.
    static let largest: Int64 = 1 << 40
    private static let step: Int64 = 1 << 20
    private static let most: Int64 = 9000

    /// In bytes.
    ///
    /// - Parameters:
    ///   - length: Of the content; `nil` while unknown.
    ///   - limit: The longest a content may be.
    static func of(_ length: Int64?, atMost limit: Int64) -> Int64 {
        let (least, whole) = length.map { (PartSize.least, $0) } ?? (16 << 20, limit)
        let (parts, rest) = (whole / most).quotientAndRemainder(dividingBy: step)
        let isWhole = rest == 0 && whole % most == 0
        return max(least, (isWhole ? parts : parts + 1) * step)
    }
}
