import MessagingWire

/// A request of the description that the tests send.
///
/// What it names is made by other examples, sent before it: those that make what its path names
/// (``PathParameter/maker``), and those listed in `after`. Ids that the server chooses are samples
/// here (``Sample``); whoever sends the example puts the id that the maker's answer holds into their
/// place.
struct Example: Sendable {
    /// Parameters behind the `?`.
    let query: [(name: String, value: String)]
    /// Fields of the head, beside credential, `Accept` and the type of the body.
    let fields: [(name: String, value: String)]
    /// The body, as JSON unless its type says otherwise; `nil` where none is read.
    let body: String?
    /// The user of the path, where it is not the reader.
    let user: String?
    /// Names of further operations whose examples come before, in this order.
    let after: [String]

    init(
        query: [(name: String, value: String)] = [], fields: [(name: String, value: String)] = [],
        user: String? = nil, body: String? = nil, after: [String] = []
    ) {
        self.query = query
        self.fields = fields
        self.user = user
        self.body = body
        self.after = after
    }
}

/// The names that examples use for what they speak of.
enum Sample {
    static let application = "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"
    static let conversation = "0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a"
    static let message = "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d"
    static let announcement = "3f2a7c60-18d4-4be2-9a57-c0d1e2f3a4b5"
    static let content = "9c1b7d5e-2f40-4e6a-8b3c-d4e5f6a7b8c9"
    static let export = "5d0e9b3a-6c27-4f81-a94d-b7c8d9e0f1a2"
    static let webhook = "2d4f6a8c-1b3e-4d5f-8a7c-9e0b1c2d3e4f"
    static let delivery = "6e1f0c4b-7d38-4a92-8b05-c8d9e0f1a2b3"
    /// The user who writes.
    static let writer = "ana"
    /// The user who reads, and on whose behalf the system acts.
    static let reader = "bo"
}

extension Sample {
    /// A user as the requests of a version name him, in quotes.
    static func name(_ user: String, _ version: APIVersion) -> String {
        version.namesIdentities ? "\"layer:///identities/\(user)\"" : "\"\(user)\""
    }

    /// The member of a message that says who sends it.
    static func sender(_ version: APIVersion) -> String {
        version.namesIdentities
            ? "\"sender_id\":\(name(writer, version))"
            : "\"sender\":{\"user_id\":\(name(writer, version))}"
    }
}
