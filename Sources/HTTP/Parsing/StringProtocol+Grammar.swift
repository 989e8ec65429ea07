extension StringProtocol {
    /// Without the blanks and tabs around it, the optional white space of RFC 9110 §5.6.3.
    package var trimmed: Substring {
        let head = Substring(self).drop { $0 == " " || $0 == "\t" }
        guard let end = head.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return head[...end]
    }
}
