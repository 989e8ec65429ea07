/// What a live query holds at a time.
public struct ResultSet<Element: Queryable>: Equatable, Sendable {
    /// The elements by sections, in order; one section without a key if the query asks for none. No section is empty.
    public let sections: [ResultSection<Element>]
    /// The number of elements of the query, those outside the window included.
    public let total: Int
    /// Whether no message inside the window is missing on this device. Only for queries of messages that require one
    /// conversation (`$0.conversation == id`); for others always true.
    public let isUpToDate: Bool
    /// What leads from the set that the reader got before, at first from nothing, to this one.
    ///
    /// To change a list step by step: delete elements and the sources of moves by their old indices, highest first;
    /// delete sections by their old indices; insert sections by their new indices, lowest first; insert elements and
    /// the destinations of moves by their new indices; replace updated elements by their new indices. An element that
    /// leaves a deleted section or enters an inserted one is deleted and inserted, not moved.
    public let changes: [ResultChange]

    /// All elements, in order of the sections.
    public var elements: [Element] { sections.flatMap(\.elements) }

    init(
        sections: [ResultSection<Element>] = [], total: Int = 0, isUpToDate: Bool = true,
        changes: [ResultChange] = []
    ) {
        self.sections = sections
        self.total = total
        self.isUpToDate = isUpToDate
        self.changes = changes
    }

    /// The element at an index.
    ///
    /// - Precondition: The set has the index.
    public subscript(index: ResultIndex) -> Element {
        sections[index.section].elements[index.item]
    }
}

/// A section of the results of a query.
public struct ResultSection<Element: Queryable>: Equatable, Sendable {
    /// What its elements have in common; `nil` if the query asks for no sections.
    public let key: SectionKey?
    /// The elements, in order; at least one.
    public let elements: [Element]

    /// Divides elements into sections: those of one key, in the order of the first ones.
    static func sections(
        of elements: [(key: SectionKey?, element: Element)]
    ) -> [ResultSection] {
        var indices: [SectionKey?: Int] = [:]
        var sections: [(key: SectionKey?, elements: [Element])] = []
        for (key, element) in elements {
            if let index = indices[key] {
                sections[index].elements.append(element)
            } else {
                indices[key] = sections.count
                sections.append((key, [element]))
            }
        }
        return sections.map { section in
            ResultSection(key: section.key, elements: section.elements)
        }
    }
}

/// The place of an element in a result set, from zero.
public struct ResultIndex: Hashable, Comparable, Sendable {
    /// The index of the section.
    public let section: Int
    /// The index in the section.
    public let item: Int

    /// A place.
    public init(section: Int, item: Int) {
        self.section = section
        self.item = item
    }

    /// The order in the set.
    public static func < (left: Self, right: Self) -> Bool {
        (left.section, left.item) < (right.section, right.item)
    }
}

/// A step from one result set to the next one, in this order.
public enum ResultChange: Hashable, Sendable {
    /// The element at an old index is no longer there. Highest first.
    case delete(ResultIndex)
    /// The section at an old index is no longer there; all its elements are deleted before. Highest first.
    case deleteSection(Int)
    /// There is a new section at a new index; all its elements are inserted after. Lowest first.
    case insertSection(Int)
    /// There is a new element at a new index. Lowest first.
    case insert(ResultIndex)
    /// The element at an old index is now at a new index. By new index, lowest first.
    case move(from: ResultIndex, to: ResultIndex)
    /// The element at a new index has changed. Lowest first.
    case update(ResultIndex)
}
