/// What a string may look like.
public struct JSONTextSchema: Sendable {
    /// Unicode scalars; `Int.max` is no bound.
    public let length: ClosedRange<Int>
    /// A regular expression (ECMA-262) that finds itself in the string.
    public let pattern: String?
    /// A well-known form, such as `date-time` or `uri`.
    public let format: String?

    /// A string; without arguments any.
    public init(
        length: ClosedRange<Int> = 0 ... .max, pattern: String? = nil, format: String? = nil
    ) {
        self.length = length
        self.pattern = pattern
        self.format = format
    }
}
