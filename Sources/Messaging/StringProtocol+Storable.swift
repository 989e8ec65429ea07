extension StringProtocol {
    /// Whether every database holds this text: PostgreSQL knows no U+0000 in one.
    ///
    /// Asked at the door of each text that is a column of its own.
    package var isStorable: Bool { !utf8.contains(0) }
}
