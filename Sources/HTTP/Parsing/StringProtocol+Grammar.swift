extension StringProtocol {
    /// Without the blanks and tabs around it, the optional white space of RFC 9110 §5.6.3.
    ///
    /// By octets (H1): a blank before a combining mark is one character with it, and still a blank.
    package var trimmed: Substring {
        let text = Substring(self)
        let head = text.utf8.drop(while: \.isBlank)
        guard let end = head.lastIndex(where: { octet in !octet.isBlank }) else { return "" }
        return Substring(head[...end])
    }
}
