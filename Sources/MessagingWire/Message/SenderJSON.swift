import JSON
import Messaging

/// Who sends, as requests name him and answers show him (platform-api §1.3, §5.2.1).
enum SenderJSON {
    /// Reads the sender of a message.
    ///
    /// 1.x asks for `sender`, later versions for `sender_id`; each takes the other when its own is
    /// absent. Names of services are gone from 2.0 on (ruling 10).
    ///
    /// - Returns: The sender, and which member named him.
    static func read(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> (sender: Sender, property: String) {
        let (object, id) = (body.present("sender"), body.present("sender_id"))
        if let id, version.namesIdentities || object == nil { return try read(id: id) }
        if let object { return try read(object: object, version) }
        throw .missing(version.namesIdentities ? "sender_id" : "sender")
    }

    private static func read(
        id: JSONValue
    ) throws(Rejection) -> (sender: Sender, property: String) {
        guard let user = id.string.flatMap(UserIDJSON.read(identity:)) else {
            throw .invalid("sender_id", .senderID)
        }
        return (.user(user), "sender_id")
    }

    private static func read(
        object: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> (sender: Sender, property: String) {
        guard object.kind == .object else { throw .invalid("sender", .senderObject) }
        switch (object.present("user_id"), object.present("name")) {
        case (_?, _?): throw .invalid("sender", .senderChoice)
        case (nil, nil): throw .missing("sender.user_id")
        case (let id?, nil):
            guard let user = UserIDJSON.read(id, version) else {
                throw .invalid("sender.user_id", .senderUser)
            }
            return (.user(user), "sender.user_id")
        case (nil, let name?):
            guard !version.namesIdentities else { throw .invalid("sender.name", .senderNameGone) }
            guard let text = name.string else { throw .invalid("sender.name", .senderName) }
            return (try .service(text), "sender.name")
        }
    }
}
