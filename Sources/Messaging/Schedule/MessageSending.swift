extension Message {
    /// Most messages of one batch (platform-api §5.2.1).
    public static let batchLimit = 12

    /// A message of a batch: what shall be sent, and when.
    public struct Sending: Equatable, Sendable {
        /// What.
        public let draft: Message.Draft
        /// When; `nil` for now.
        public let schedule: Schedule?

        /// A message to send.
        public init(_ draft: Message.Draft, _ schedule: Schedule? = nil) {
            self.draft = draft
            self.schedule = schedule
        }
    }
}
