/// The changes from one list of sections to the next one (K62): pure, without a store.
///
/// Elements are the same by their ids, sections by their keys; both are unique in a list.
struct ResultDifference<Element: Queryable> {
    private let old: [ResultSection<Element>]
    private let new: [ResultSection<Element>]
    private let differ: (Element, Element) -> Bool

    /// - Parameter differ: Whether an element that is in both lists counts as updated.
    init(
        from old: [ResultSection<Element>], to new: [ResultSection<Element>],
        differ: @escaping (Element, Element) -> Bool
    ) {
        self.old = old
        self.new = new
        self.differ = differ
    }

    /// The changes, in the order of ``ResultSet/changes``.
    var changes: [ResultChange] {
        let places = oldPlaces()
        let (kept, oldOfNew) = keptSections()
        var deletes = Set(places.values)
        var inserts: [ResultIndex] = []
        var moves: [ResultChange] = []
        var updates: [ResultChange] = []
        for (section, place) in new.enumerated().map({ ($1, $0) }) {
            let sources = section.elements.map { element -> ResultIndex? in
                // In a section that is inserted everything is new.
                guard oldOfNew[place] != nil, let source = places[element.id],
                    kept.contains(source.section)
                else { return nil }
                return source
            }
            let staying = staying(sources, in: oldOfNew[place])
            for (item, source) in sources.enumerated() {
                let index = ResultIndex(section: place, item: item)
                guard let source else {
                    inserts.append(index)
                    continue
                }
                deletes.remove(source)
                if !staying.contains(item) { moves.append(.move(from: source, to: index)) }
                if differ(old[source.section].elements[source.item], section.elements[item]) {
                    updates.append(.update(index))
                }
            }
        }
        let deletedSections = old.indices.filter { section in !kept.contains(section) }
        let insertedSections = new.indices.filter { section in oldOfNew[section] == nil }
        return deletes.sorted(by: >).map(ResultChange.delete)
            + deletedSections.reversed().map(ResultChange.deleteSection)
            + insertedSections.map(ResultChange.insertSection)
            + inserts.map(ResultChange.insert) + moves + updates
    }

    private func oldPlaces() -> [Element.ID: ResultIndex] {
        var places: [Element.ID: ResultIndex] = [:]
        for (place, section) in old.enumerated() {
            for (item, element) in section.elements.enumerated() {
                places[element.id] = ResultIndex(section: place, item: item)
            }
        }
        return places
    }

    /// The old sections that stay: as many as possible that are in the same order before and after.
    ///
    /// - Returns: Their old indices, and these by the new indices.
    private func keptSections() -> (kept: Set<Int>, oldOfNew: [Int: Int]) {
        let places = Dictionary(uniqueKeysWithValues: old.enumerated().map { ($1.key, $0) })
        let sources = new.map { section in places[section.key] }
        var oldOfNew: [Int: Int] = [:]
        for index in Self.longestRise(sources) { oldOfNew[index] = sources[index] }
        return (Set(oldOfNew.values), oldOfNew)
    }

    /// The items of a new section that stay where they are: as many as possible that were in the section before, in
    /// the same order.
    private func staying(_ sources: [ResultIndex?], in section: Int?) -> Set<Int> {
        Set(
            Self.longestRise(
                sources.map { source in
                    source.flatMap { source in source.section == section ? source.item : nil }
                }))
    }

    /// The indices of a longest subsequence of rising numbers; `nil` is never in it. O(n log n), and O(n) if all rise.
    static func longestRise(_ numbers: [Int?]) -> [Int] {
        // `ends[n]` is the index of the lowest number that ends a rise of length n + 1.
        var ends: [Int] = []
        var previous: [Int?] = Array(repeating: nil, count: numbers.count)
        func number(_ index: Int) -> Int { numbers[index] ?? .min }
        for (index, found) in numbers.enumerated() {
            guard let found else { continue }
            var (low, high) = (0, ends.count)
            if let last = ends.last, number(last) < found { low = high }
            while low < high {
                let middle = (low + high) / 2
                if number(ends[middle]) < found { low = middle + 1 } else { high = middle }
            }
            previous[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var rise: [Int] = []
        var next = ends.last
        while let index = next {
            rise.append(index)
            next = previous[index]
        }
        return rise.reversed()
    }
}
