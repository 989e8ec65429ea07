internal import FoundationEssentials
internal import SQL

/// How values of a Swift type are stored.
struct ColumnType<Value: Sendable>: Sendable {
    /// The value to bind.
    let bound: @Sendable (Value) -> SQLValue
    /// The key of a section of rows with a value that is not missing.
    let sectionKey: @Sendable (SQLValue) -> SectionKey
    var isFlag = false
    /// The conversation that a value names.
    var conversation: (@Sendable (Value) -> Conversation.ID?)?

    /// The type of values that may be missing.
    var optional: ColumnType<Value?> {
        var type = ColumnType<Value?>(
            bound: { [bound] value in
                if let value { bound(value) } else { .null }
            },
            sectionKey: { [sectionKey] value in value == .null ? .missing : sectionKey(value) },
            isFlag: isFlag)
        if let conversation {
            type.conversation = { value in value.flatMap(conversation) }
        }
        return type
    }

    private static func number(_ value: SQLValue) -> SectionKey {
        if case .integer(let number) = value { .number(number) } else { .missing }
    }

    private static func text(_ value: SQLValue) -> SectionKey {
        if case .text(let text) = value { .text(text) } else { .missing }
    }
}

extension ColumnType<String> {
    static var text: Self { Self(bound: { $0.sqlValue }, sectionKey: text) }
}

extension ColumnType<UserID> {
    static var user: Self { Self(bound: { $0.text.sqlValue }, sectionKey: text) }
}

extension ColumnType<URL> {
    static var url: Self { Self(bound: { $0.absoluteString.sqlValue }, sectionKey: text) }
}

extension ColumnType<Int> {
    static var int: Self { Self(bound: { $0.sqlValue }, sectionKey: number) }
}

extension ColumnType<Int64> {
    static var int64: Self { Self(bound: { $0.sqlValue }, sectionKey: number) }
}

extension ColumnType<TransferStatus> {
    static var status: Self { Self(bound: { $0.rawValue.sqlValue }, sectionKey: number) }
}

extension ColumnType<Bool> {
    static var flag: Self {
        Self(
            bound: { $0.sqlValue }, sectionKey: { value in .flag(value == .integer(1)) },
            isFlag: true)
    }
}

extension ColumnType<Date> {
    static var date: Self {
        Self(
            bound: { date in date.milliseconds.sqlValue },
            sectionKey: { value in
                if case .integer(let time) = value {
                    .time(Date(milliseconds: time))
                } else {
                    .missing
                }
            })
    }
}

extension ColumnType<Conversation.ID> {
    static var conversation: Self {
        Self(
            bound: { id in id.bytes.sqlValue },
            sectionKey: { value in
                guard case .blob(let bytes) = value,
                    let id = Conversation.ID(stored: bytes)
                else { return .missing }
                return .text(id.description)
            },
            conversation: { id in id })
    }
}

extension ColumnType<Message.ID> {
    static var message: Self {
        Self(
            bound: { id in id.bytes.sqlValue },
            sectionKey: { value in
                guard case .blob(let bytes) = value, let id = Message.ID(stored: bytes)
                else { return .missing }
                return .text(id.description)
            })
    }
}

extension Comparand {
    /// A property of the rows.
    ///
    /// - Parameter presence: Whether there is a value; `nil` if there always is one.
    init(
        _ expression: SQL, _ type: ColumnType<Value>, presence: SQL? = nil,
        isOfParts: Bool = false
    ) {
        self.init(
            expression: expression, bound: type.bound, presence: presence, isFlag: type.isFlag,
            conversation: type.conversation, isOfParts: isOfParts)
    }
}

extension Column {
    /// A property that always has a value.
    init(_ expression: SQL, _ type: ColumnType<Value>) {
        self.init(Comparand(expression, type), sectionKey: type.sectionKey)
    }

    /// A property that may have none.
    ///
    /// - Parameter isCommon: See ``Comparand/isCommon``.
    init<Wrapped>(_ expression: SQL, optional type: ColumnType<Wrapped>, isCommon: Bool = false)
    where Value == Wrapped? {
        let type = type.optional
        var comparand = Comparand<Element, Value>(
            expression, type, presence: "\(expression) IS NOT NULL")
        comparand.isCommon = isCommon
        self.init(comparand, sectionKey: type.sectionKey)
    }
}

extension Date {
    /// Milliseconds since 1970 UTC, rounded; for dates that have none the lowest or highest number.
    var milliseconds: Int64 {
        let exact = (timeIntervalSince1970 * 1000).rounded()
        return Int64(exactly: exact) ?? (exact > 0 ? .max : .min)
    }
}
