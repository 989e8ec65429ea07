import JSON
import Messaging
import Testing

@testable import MessagingWire

@Suite struct `Lines of an export` {
    @Test(arguments: lines) func `X10: a line that is read is written byte for byte`(
        line: String
    ) throws {
        let read = try ArchiveLineJSON.read(Array(line.utf8), MessagingLimits())
        var writer = JSONWriter()
        ArchiveLineJSON.write(read, into: &writer)
        #expect(String(decoding: writer.finish(), as: UTF8.self) == line)
    }

    @Test func `each kind of line has its sample`() {
        for name in ArchiveRecordKind.allCases {
            #expect(Self.lines.contains { line in line.hasPrefix(#"{"record":"\#(name)""#) })
        }
    }

    @Test(arguments: lines) func `a truncated line is an error`(line: String) {
        let bytes = Array(line.utf8)
        for length in stride(from: 0, to: bytes.count, by: 7) {
            #expect(throws: ArchiveLineError.self) {
                try ArchiveLineJSON.read(Array(bytes.prefix(length)), MessagingLimits())
            }
        }
    }

    @Test(arguments: mistakes) func `X10: an error names the member and the rule`(
        line: String, error: ArchiveLineError
    ) {
        #expect(throws: error) { try ArchiveLineJSON.read(Array(line.utf8), MessagingLimits()) }
    }

    private static let message =
        #"{"record":"message","id":"00000000-0000-0000-0000-000000000005","conversation":"00000000-0000-0000-0000-000000000003","position":8,"#

    static let lines = [
        #"{"record":"application","format":1,"id":"00000000-0000-0000-0000-000000000001","name":"Shop","created_at":"2026-03-01T09:15:30.042Z","suspended":false,"session_ttl_in_seconds":3600}"#,
        #"{"record":"user","user_id":"ana","standing":"told","version":7,"identity_type":"bot","display_name":"Ana","public_key":"k","metadata":{"a":"","b":"é"},"suspended":true,"sessions_ended_at":"2026-03-01T09:15:30.042Z","external_unread_count":3,"created_at":"2026-03-01T09:15:30.042Z"}"#,
        #"{"record":"user","user_id":"bo","standing":"unknown","version":1,"identity_type":"user","suspended":false,"external_unread_count":0}"#,
        #"{"record":"relations","user_id":"ana","following":["bo","cy"],"blocked":["cy"]}"#,
        #"{"record":"conversation","id":"00000000-0000-0000-0000-000000000003","created_at":"2026-03-01T09:15:30.042Z","distinct":false,"announced":false,"version":4,"last_position":9,"last_sent_at":"2026-03-01T09:15:30.042Z","aliases":["00000000-0000-0000-0000-000000000004"],"metadata":[{"path":[],"at":"2026-03-01T09:15:30.042Z","value":{}},{"path":["a","b"],"at":"2026-03-01T09:15:30.042Z","value":"c"},{"path":["d"],"at":"2026-03-01T09:15:30.042Z","value":null}],"participants":[{"user_id":"bo","place":0,"past":"2-3","joined_after":5,"state":"cleared","cleared_to":6,"shown_from":7,"hidden":"8","delivered":"1-7","read":"2-3"},{"user_id":"cy","place":1,"joined_after":0,"left_after":4,"state":"shown","cleared_to":0,"metadata":[{"path":["a"],"at":"2026-03-01T09:15:30.042Z","value":"b"}]}]}"#,
        #"{"record":"conversation","id":"00000000-0000-0000-0000-000000000003","created_at":"2026-03-01T09:15:30.042Z","deleted_at":"2026-03-01T09:15:30.042Z","distinct":false,"announced":true,"version":1,"last_position":0,"metadata":[],"participants":[]}"#,
        message
            + #""sender":{"name":"Billing"},"sent_at":"2026-03-01T09:15:30.042Z","updated_at":"2026-03-01T09:15:30.042Z","version":2,"parts_made":3,"parts":[{"id":"00000000-0000-0000-0000-000000000006","index":0,"place":1,"mime_type":"a/b","body":"AP8=","encoding":"base64"},{"id":"00000000-0000-0000-0000-000000000007","index":2,"mime_type":"c/d","content":"00000000-0000-0000-0000-000000000008","size":12,"updated_at":"2026-03-01T09:15:30.042Z"}],"contents":[{"id":"00000000-0000-0000-0000-000000000008","conversation":"00000000-0000-0000-0000-000000000003","mime_type":"c/d","size":12,"file_name":"é","sha256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","crc32c":4294967295,"md5":"AAAAAAAAAAAAAAAAAAAAAA==","sha512":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==","completed_at":"2026-03-01T09:15:30.042Z","origin":"https://x","owner":"ana"}]}"#,
        #"{"record":"bytes","content":"00000000-0000-0000-0000-000000000008","at":786432,"data":"AP8="}"#,
        #"{"record":"bytes","content":"00000000-0000-0000-0000-000000000008","at":0,"data":""}"#,
        #"{"record":"content","id":"00000000-0000-0000-0000-000000000008","mime_type":"c/d","size":0,"sha256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","crc32c":0,"completed_at":"2026-03-01T09:15:30.042Z"}"#,
        #"{"record":"scheduled","id":"00000000-0000-0000-0000-000000000009","conversation":"00000000-0000-0000-0000-000000000003","due_at":"2026-03-01T09:15:30.042Z","typing_from":"2026-03-01T09:15:29.042Z","sender":{"user_id":"ana"},"sender_is_participant":false,"sender_property":"sender_id","proposed_id":"00000000-0000-0000-0000-000000000009","notification":{"text":"x"},"parts":[{"id":"00000000-0000-0000-0000-000000000006","mime_type":"a/b","body":"hi"}]}"#,
        #"{"record":"announcement","id":"00000000-0000-0000-0000-00000000000a","sender":{"user_id":"ana"},"sent_at":"2026-03-01T09:15:30.042Z","parts":[{"id":"00000000-0000-0000-0000-000000000006","index":0,"mime_type":"a/b","body":"hi\u0000"}],"recipients":[{"user_id":"bo","status":"delivered","deleted_at":"2026-03-01T09:15:30.042Z"},{"user_id":"cy","status":"sent"}]}"#,
        #"{"record":"key","kind":"match","key":"00000000-0000-0000-0000-00000000000c","object":"00000000-0000-0000-0000-000000000003"}"#,
    ]

    static let mistakes: [(String, ArchiveLineError)] = [
        ("[]", ArchiveLineError(nil, "is not a JSON object")),
        ("{}", ArchiveLineError("record", "is missing")),
        (
            #"{"record":"song"}"#,
            ArchiveLineError(
                "record",
                "must be one of application, user, relations, conversation, message, bytes, content, scheduled, announcement, key"
            )
        ),
        (
            #"{"record":"application","format":2}"#,
            ArchiveLineError("format", "is one that this release does not read")
        ),
        (
            #"{"record":"relations","user_id":""}"#,
            ArchiveLineError(
                "user_id",
                "must be a user id of 1 to 128 characters without U+0000, other than . and ..")
        ),
        (
            #"{"record":"relations","user_id":"ana","blocked":["bo","bo"]}"#,
            ArchiveLineError("blocked", "names a user twice")
        ),
        (
            #"{"record":"key","kind":"match","key":"x"}"#, ArchiveLineError("key", "must be a UUID")
        ),
        (
            #"{"record":"bytes","content":"00000000-0000-0000-0000-000000000008","at":0,"data":"x"}"#,
            ArchiveLineError("data", "must be 0 to 4194304 bytes in base64")
        ),
        (
            message + #""parts":[]}"#,
            ArchiveLineError("parts", "must be at least one, and no two of the same index")
        ),
        (
            message
                + #""sender":{"user_id":"erased-1"},"parts":[{"id":"00000000-0000-0000-0000-000000000006","index":0,"mime_type":"a/b","body":"c"}]}"#,
            ArchiveLineError("parts", "must be empty, because the sender was erased")
        ),
        (
            message + #""parts":[{"mime_type":"text","body":"x"}]}"#,
            ArchiveLineError(
                "parts.mime_type",
                "must be a media type such as text/plain, of a body of 2048 bytes at most")
        ),
        (
            message + #""parts":[{"mime_type":"a/b","body":5}]}"#,
            ArchiveLineError("parts.body", "must be a text")
        ),
        (
            message
                + #""version":1,"sender":{"name":"Billing"},"sent_at":"2026-03-01T09:15:30.042Z","parts":[{"id":"00000000-0000-0000-0000-000000000007","index":0,"mime_type":"c/d","content":"00000000-0000-0000-0000-000000000008","size":11}],"contents":[{"id":"00000000-0000-0000-0000-000000000008","mime_type":"c/d","size":12,"sha256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","crc32c":0,"completed_at":"2026-03-01T09:15:30.042Z"}]}"#,
            ArchiveLineError(
                "parts.size", "must be the size of the content 00000000-0000-0000-0000-000000000008"
            )
        ),
        (
            #"{"record":"conversation","participants":[{"user_id":"ana","past":"3-1","joined_after":0}]}"#,
            ArchiveLineError(
                "participants.past",
                "must be positions such as 1-500,502 in ascending order, at most 68719476735")
        ),
        (
            message
                + #""version":1,"parts_made":2,"parts":[{"id":"00000000-0000-0000-0000-000000000006","index":2,"mime_type":"a/b","body":"c"}]}"#,
            ArchiveLineError("parts_made", "must be above the index of every part")
        ),
        (
            message
                + #""version":1,"parts":[{"id":"00000000-0000-0000-0000-000000000006","index":1,"mime_type":"a/b","body":"c"}]}"#,
            ArchiveLineError(
                "parts.index", "must be below the number of parts where parts_made is missing")
        ),
        (
            #"{"record":"conversation","participants":[]}"#,
            ArchiveLineError(
                "participants",
                "must name 1 to 25 current participants, and none if deleted_at is present")
        ),
    ]
}
