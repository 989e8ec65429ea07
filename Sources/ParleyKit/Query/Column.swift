internal import SQL

/// A property that queries compare and sort by.
///
/// Values that may be missing have an optional type: `$0.sentAt == nil` finds messages without that time, and the other
/// comparisons find rows that have one. Texts and user ids compare as bytes, dates in whole milliseconds.
public struct Column<Element: Queryable, Value: Sendable>: FilterableColumn {
    /// What the database compares.
    public let comparand: Comparand<Element, Value>
    /// The value as it is shown; what is compared may have other values for missing ones.
    let shownValue: SQL
    /// Makes the key of a section from a value.
    let sectionKey: @Sendable (SQLValue) -> SectionKey

    init(
        _ comparand: Comparand<Element, Value>, shownValue: SQL? = nil,
        sectionKey: @escaping @Sendable (SQLValue) -> SectionKey
    ) {
        self.comparand = comparand
        self.shownValue = shownValue ?? comparand.expression
        self.sectionKey = sectionKey
    }

    /// Lowest first; rows without a value come before all others.
    public var ascending: Sort<Element> { sort(isDescending: false) }

    /// Highest first; rows without a value come after all others.
    public var descending: Sort<Element> { sort(isDescending: true) }

    private func sort(isDescending: Bool) -> Sort<Element> {
        Sort(
            expression: comparand.expression, isDescending: isDescending,
            invalid: comparand.invalid)
    }
}

/// A property of the parts of a message. A comparison finds the messages that have *some* part of which it is true.
///
/// `$0.parts.mimeType == "image/png"` finds messages with a picture, and `!($0.parts.transferStatus <= .downloading)`
/// those whose parts are all complete.
public struct PartsColumn<Value: Sendable>: FilterableColumn {
    /// What the database compares.
    public let comparand: Comparand<Message, Value>
}

/// What a filter compares: a property of the element, or of its parts.
public protocol FilterableColumn<Element, Value>: Sendable {
    /// The type of the elements that a query finds.
    associatedtype Element: Queryable
    /// The type of the property.
    associatedtype Value: Sendable

    /// What the database compares.
    var comparand: Comparand<Element, Value> { get }
}

extension FilterableColumn {
    /// Whether the value is one of these; at most 10,000 of them.
    public func isIn(_ values: some Collection<Value>) -> Filter<Element> {
        comparand.isIn(Array(values))
    }

    /// Whether the value is none of these; at most 10,000 of them.
    public func isNotIn(_ values: some Collection<Value>) -> Filter<Element> {
        comparand.isIn(Array(values), isNegated: true)
    }

    /// Whether there is a value that is one of these; at most 10,000 of them.
    public func isIn<Wrapped>(_ values: some Collection<Wrapped>) -> Filter<Element>
    where Value == Wrapped? {
        comparand.isIn(values.map { value in value })
    }

    /// Whether there is no value, or one that is none of these; at most 10,000 of them.
    public func isNotIn<Wrapped>(_ values: some Collection<Wrapped>) -> Filter<Element>
    where Value == Wrapped? {
        comparand.isIn(values.map { value in value }, isNegated: true)
    }
}

extension FilterableColumn where Value == String {
    /// Whether the text matches a pattern: `%` stands for any text, `_` for one character, and the case of ASCII
    /// letters does not matter.
    public func like(_ pattern: String) -> Filter<Element> { comparand.isLike(pattern) }
}

extension FilterableColumn where Value == String? {
    /// Whether there is a text that matches a pattern: `%` stands for any text, `_` for one character, and the case
    /// of ASCII letters does not matter.
    public func like(_ pattern: String) -> Filter<Element> { comparand.isLike(pattern) }
}

/// Whether a value is equal to another one.
public func == <C: FilterableColumn>(column: C, value: C.Value) -> Filter<C.Element> {
    column.comparand.compares(.equal, value)
}

/// Whether a value is not equal to another one.
public func != <C: FilterableColumn>(column: C, value: C.Value) -> Filter<C.Element> {
    column.comparand.compares(.notEqual, value)
}

/// Whether a value is lower.
public func < <C: FilterableColumn>(column: C, value: C.Value) -> Filter<C.Element>
where C.Value: Comparable { column.comparand.compares(.less, value) }

/// Whether a value is lower or equal.
public func <= <C: FilterableColumn>(column: C, value: C.Value) -> Filter<C.Element>
where C.Value: Comparable { column.comparand.compares(.lessOrEqual, value) }

/// Whether a value is higher.
public func > <C: FilterableColumn>(column: C, value: C.Value) -> Filter<C.Element>
where C.Value: Comparable { column.comparand.compares(.greater, value) }

/// Whether a value is higher or equal.
public func >= <C: FilterableColumn>(column: C, value: C.Value) -> Filter<C.Element>
where C.Value: Comparable { column.comparand.compares(.greaterOrEqual, value) }

/// Whether there is a value that is lower.
public func < <C: FilterableColumn, Wrapped: Comparable>(
    column: C, value: Wrapped
) -> Filter<C.Element> where C.Value == Wrapped? { column.comparand.compares(.less, value) }

/// Whether there is a value that is lower or equal.
public func <= <C: FilterableColumn, Wrapped: Comparable>(
    column: C, value: Wrapped
) -> Filter<C.Element> where C.Value == Wrapped? { column.comparand.compares(.lessOrEqual, value) }

/// Whether there is a value that is higher.
public func > <C: FilterableColumn, Wrapped: Comparable>(
    column: C, value: Wrapped
) -> Filter<C.Element> where C.Value == Wrapped? { column.comparand.compares(.greater, value) }

/// Whether there is a value that is higher or equal.
public func >= <C: FilterableColumn, Wrapped: Comparable>(
    column: C, value: Wrapped
) -> Filter<C.Element> where C.Value == Wrapped? {
    column.comparand.compares(.greaterOrEqual, value)
}
