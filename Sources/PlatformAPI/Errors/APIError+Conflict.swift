import MessagingWire

// What a creation meets instead of making something, with the object that stands in the way.
extension APIError {
    /// The distinct conversation there is has other metadata (R7).
    static func distinctConflict(with conversation: [UInt8]) -> APIError {
        APIError(
            .conflict,
            """
            The requested Distinct Conversation was found but had metadata that did not match \
            your request.
            """, data: .object(conversation))
    }

    /// The id in the body names a conversation that exists (platform-api §1.9).
    static func taken(byConversation conversation: [UInt8]) -> APIError {
        APIError(
            .idInUse, "The requested Conversation already exists", data: .object(conversation))
    }

    /// The id in the body names a message that exists (platform-api §1.9).
    static func taken(byMessage message: [UInt8]) -> APIError {
        APIError(.idInUse, "The requested Message already exists", data: .object(message))
    }
}
