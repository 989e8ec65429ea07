/// Numbers the combinations of labels: the last label runs fastest.
struct LabelRows: Sendable {
    private let labels: [LabelValues]
    let count: Int

    init(_ labels: [LabelValues]) {
        self.labels = labels
        count = labels.reduce(1) { product, values in product * values.count }
    }

    /// The values of a combination, in the order of the labels.
    func values(of row: Int) -> [String] {
        var rest = row
        let backwards = labels.reversed().map { values in
            defer { rest /= values.count }
            return values.all[rest % values.count]
        }
        return backwards.reversed()
    }
}
