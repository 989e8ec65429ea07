extension JSONWriter {
    /// Writes a member; `nil` as `null`.
    public mutating func member(_ name: StaticString, _ value: String?) {
        key(name)
        if let value { string(value) } else { null() }
    }

    /// Writes a member.
    public mutating func member(_ name: StaticString, _ value: Int) {
        key(name)
        integer(value)
    }

    /// Writes a member.
    public mutating func member(_ name: StaticString, _ value: Int64) {
        key(name)
        integer(value)
    }

    /// Writes a member.
    public mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// Writes a member whose value is JSON already.
    public mutating func member(_ name: StaticString, raw json: [UInt8]) {
        key(name)
        raw(json)
    }

    /// Writes a member whose value is JSON already.
    public mutating func member(_ name: StaticString, raw json: ArraySlice<UInt8>) {
        key(name)
        raw(json)
    }
}
