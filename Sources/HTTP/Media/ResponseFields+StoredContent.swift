extension ResponseFields {
    /// Adds what keeps content that somebody stored from acting in a browser (H126).
    ///
    /// - Parameters:
    ///   - name: What it is saved as.
    ///   - isInline: Whether a browser may show it in place; only for types that run nothing.
    public mutating func addStoredContent(_ name: FileName, isInline: Bool) {
        add("Content-Disposition", name.disposition(isInline: isInline))
        // Runs nothing, loads nothing, belongs to no origin, tells nobody where it was.
        add("Content-Security-Policy", "default-src 'none'; sandbox")
        add("Referrer-Policy", "no-referrer")
    }
}
