extension MessagePart {
    /// A part somebody wants to send; what can be checked without look-ups has been.
    public struct Draft: Equatable, Sendable {
        /// Its media type.
        public let mimeType: String
        /// Its bytes, or the content it attaches with the size the caller believes.
        public let body: MessagePart.Body
        /// The id the caller names (3.0).
        public let proposedID: MessagePart.ID?

        /// - Throws: `invalid("parts.mime_type")` without something on both sides of a `/` (R21) or
        ///   with U+0000,
        ///   `invalid("parts.body")` above 2048 bytes (R22).
        public init(
            mimeType: String, body: MessagePart.Body, proposedID: MessagePart.ID? = nil
        ) throws(Rejection) {
            let halves = mimeType.utf8.split(
                separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, halves.allSatisfy({ half in !half.isEmpty }),
                mimeType.isStorable
            else {
                throw .invalid("parts.mime_type", .partType)
            }
            if case .inline(let bytes) = body, bytes.count > MessagePart.inlineLimit {
                throw .invalid("parts.body", .partBodySize, .init(amount: bytes.count))
            }
            self.mimeType = mimeType
            self.body = body
            self.proposedID = proposedID
        }

        /// What the part will hold: of a content the stored size, which wins over the one the
        /// caller states (extensions, precedence 1).
        ///
        /// - Parameters:
        ///   - contents: The contents that exist.
        ///   - conversation: That of the message; a content of another one is refused (R24).
        /// - Throws: `invalid("parts.content")`.
        func body(
            from contents: [Content.ID: Content], in conversation: Conversation.ID
        ) throws(Rejection) -> MessagePart.Body {
            guard case .content(let id, _) = body else { return body }
            guard let content = contents[id], content.conversation ?? conversation == conversation
            else { throw .invalid("parts.content", .partContentUnknown) }
            return .content(id, size: content.size)
        }
    }
}
