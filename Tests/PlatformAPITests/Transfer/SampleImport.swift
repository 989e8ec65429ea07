import Messaging

/// The lines of an import with every kind of record and every numeric member, for its own application.
struct SampleImport {
    /// Numbers that an error or an attack may put anywhere.
    static let values: [Int64] = [
        -1, 0, 1 << 31, 1 << 36, 1 << 37, (1 << 53) - 1, 1 << 53, .max,
    ]

    let application: String
    private let prefix: String

    /// - Parameter sample: The application of the lines.
    init(_ sample: SampleApplication) {
        application = sample.application.uuid
        // Content ids are unique across applications.
        prefix = String(application.prefix(24))
    }

    func id(_ number: Int) -> String {
        prefix + String(String(number + 1_000_000_000_000).suffix(12))
    }

    var distinct: String { id(1) }
    var ordinary: String { id(2) }

    static let users = ["ana", "bo", "cy"]
    private static let at = #""2026-03-01T09:15:30.042Z""#

    var lines: [String] {
        let at = Self.at
        return [
            """
            {"record":"application","format":1,"id":"\(application)","name":"Shop","created_at":\(at),\
            "suspended":false,"session_ttl_in_seconds":3600}
            """,
            """
            {"record":"user","user_id":"ana","standing":"told","version":7,"identity_type":"user",\
            "display_name":"Ana","suspended":false,"external_unread_count":3}
            """,
            """
            {"record":"user","user_id":"bo","standing":"told","version":1,"identity_type":"user",\
            "display_name":"Bo","suspended":false,"external_unread_count":0}
            """,
            #"{"record":"relations","user_id":"ana","following":["bo"],"blocked":["cy"]}"#,
            conversation(
                1, isDistinct: true, last: 4,
                [
                    """
                    "user_id":"ana","place":0,"joined_after":0,"state":"shown","cleared_to":1,\
                    "shown_from":2,"hidden":"2","delivered":"1-3","read":"1-2"
                    """,
                    #""user_id":"bo","place":1,"joined_after":0,"state":"shown","cleared_to":0"#,
                ]),
            message(11, in: 1, at: 1, "ana"), message(12, in: 1, at: 2, "bo"),
            message(13, in: 1, at: 4, "bo"),
            conversation(
                2, isDistinct: false, last: 9,
                [
                    """
                    "user_id":"ana","place":0,"past":"2-3","joined_after":5,"state":"shown",\
                    "cleared_to":0,"delivered":"6-7","read":"6"
                    """,
                    #""user_id":"bo","place":1,"joined_after":0,"state":"cleared","cleared_to":8"#,
                    """
                    "user_id":"cy","place":2,"joined_after":0,"left_after":4,"state":"shown",\
                    "cleared_to":0,"metadata":[]
                    """,
                ]),
            message(21, in: 2, at: 3, "cy"), message(22, in: 2, at: 6, "bo"),
            #"{"record":"bytes","content":"\#(id(90))","at":0,"data":"YWFh"}"#,
            message(23, in: 2, at: 9, "ana", content: 90),
            #"{"record":"bytes","content":"\#(id(91))","at":0,"data":"YWFh"}"#,
            #"{"record":"content",\#(content(91))}"#,
            """
            {"record":"scheduled","id":"\(id(31))","conversation":"\(ordinary)",\
            "due_at":"9999-12-31T23:59:59.999Z","typing_from":"9999-12-31T23:59:58Z",\
            "sender":{"user_id":"ana"},"sender_is_participant":true,"sender_property":"sender_id",\
            "parts":[{"mime_type":"text/plain","body":"later"}]}
            """,
            """
            {"record":"announcement","id":"\(id(41))","sender":{"name":"Shop"},"sent_at":\(at),\
            "parts":[{"id":"\(id(42))","index":0,"mime_type":"text/plain","body":"Sale"}],\
            "recipients":[{"user_id":"ana","status":"read"},{"user_id":"bo","status":"sent"}]}
            """,
            #"{"record":"key","kind":"message","key":"\#(id(51))","object":"\#(id(11))"}"#,
        ]
    }

    func conversation(
        _ number: Int, isDistinct: Bool, last: Int, _ members: [String],
        createdAt moment: String = at
    ) -> String {
        """
        {"record":"conversation","id":"\(id(number))","created_at":\(moment),\
        "last_sent_at":\(Self.at),"distinct":\(isDistinct),"announced":true,"version":4,\
        "last_position":\(last),"metadata":[{"path":["a"],"at":\(Self.at),"value":"b"}],\
        "participants":[\(members.map { "{\($0)}" }.joined(separator: ","))]}
        """
    }

    func message(
        _ number: Int, in conversation: Int, at position: Int, _ sender: String,
        content: Int? = nil, sentAt moment: String? = nil
    ) -> String {
        let body =
            content.map { number in
                #""mime_type":"image/png","content":"\#(id(number))","size":3"#
            } ?? #""mime_type":"text/plain","body":"m\#(number)""#
        let contents = content.map { number in #","contents":[{\#(self.content(number))}]"# } ?? ""
        return """
            {"record":"message","id":"\(id(number))","conversation":"\(id(conversation))",\
            "position":\(position),"sender":{"user_id":"\(sender)"},"sent_at":\(moment ?? Self.at),\
            "version":2,"parts_made":3,"parts":[{"id":"\(id(number + 100))","index":1,"place":0,\
            \(body)}]\(contents)}
            """
    }

    private func content(_ number: Int) -> String {
        """
        "id":"\(id(number))","mime_type":"image/png","size":3,\
        "sha256":"mDSHbc+wXLFnpcJJU+uljErImxrfV/KPL50JrxB+6PA=","crc32c":1,"completed_at":\(Self.at)
        """
    }
}
