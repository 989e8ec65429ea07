import HTTP
import Testing

@testable import Uploads

@Suite struct `The Content-Range of a request` {
    @Test(
        arguments: [
            ("bytes 0-9/10", .part(first: 0, last: 9, total: 10)),
            ("bytes 3-9/*", .part(first: 3, last: 9, total: nil)),
            ("bytes 3-*/10", .rest(first: 3, total: 10)),
            ("bytes 10-*/10", .rest(first: 10, total: 10)),
            ("bytes 0-*/*", .rest(first: 0, total: nil)),
            ("bytes */10", .query(total: 10)),
            ("bytes */*", .query(total: nil)),
            ("bytes */0", .query(total: 0)),
            ("bytes 0-0/0", .query(total: 0)),
            ("bytes 0--1/0", .query(total: 0)),
            ("BYTES 0-0/1", .part(first: 0, last: 0, total: 1)),
            ("bytes  0 - 9 / 10 ", .part(first: 0, last: 9, total: 10)),
            ("\tbytes\t0-9/10", .part(first: 0, last: 9, total: 10)),
            ("bytes 007-009/0010", .part(first: 7, last: 9, total: 10)),
            (
                "bytes 0-9223372036854775806/9223372036854775807",
                .part(first: 0, last: 9_223_372_036_854_775_806, total: .max)
            ),
        ] as [(String, ContentRange)])
    func `is parsed in its six forms and those for empty content (5.2)`(
        text: String, range: ContentRange
    ) {
        #expect(ContentRange(text) == range)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 0-9", "bytes 0-9/", "bytes /10", "bytes 9-0/10",
        "bytes 0-10/10", "bytes 0-9/9", "bytes -9/10", "bytes 0-/10", "bytes +0-9/10",
        "bytes 0-9/+10", "bytes 0-9/10/11", "bytes 0-9,10-11/12", "items 0-9/10", "bytes=0-9/10",
        "bytes0-9/10", "bytes 0x0-9/10", "bytes 0-9/1 0", "bytes 0 1-9/10", "bytes 11-*/10",
        "bytes 0-9/99999999999999999999", "bytes 0-9/9223372036854775808", "bytes **/10",
        "bytes 1--1/0", "bytes 0-1/0", "bytes 0-9223372036854775807/*", "bytes ٠-٩/*",
    ])
    func `in any other form is refused (5.2)`(text: String) {
        #expect(ContentRange(text) == nil)
    }
}

@Suite struct `A structured field with one value` {
    @Test(
        arguments: [
            ("0", 0), ("-7", -7), ("0042", 42), ("999999999999999", 999_999_999_999_999),
            ("1;a", 1), ("1;a=1; b=\"x\";*c=?1", 1), (" 5 ", 5), ("1000000000000000", nil),
            ("", nil), ("-", nil), ("--1", nil), ("+1", nil), ("1.0", nil), ("1, 2", nil),
            ("(1)", nil), ("?1", nil), ("1;", nil), ("1;A=1", nil), ("1 ;a", nil), ("1 2", nil),
        ] as [(String, Int64?)])
    func `can be an integer of at most 15 digits (7.2)`(text: String, number: Int64?) {
        #expect(Fields([("Upload-Offset", text)]).structuredInteger("Upload-Offset") == number)
    }

    @Test(
        arguments: [
            ("?1", true), ("?0", false), ("?0;a=b", false), ("?2", nil), ("1", nil), ("true", nil),
            ("?1, ?1", nil), ("", nil),
        ] as [(String, Bool?)])
    func `can be a boolean (7.2)`(text: String, isTrue: Bool?) {
        #expect(Fields([("Upload-Complete", text)]).structuredBoolean("Upload-Complete") == isTrue)
    }

    @Test func `is absent when it is missing or repeated (3.1)`() {
        let twice = Fields([("Upload-Offset", "1"), ("upload-offset", "1")])
        #expect(twice.structuredInteger("Upload-Offset") == nil)
        #expect(Fields([]).structuredInteger("Upload-Offset") == nil)
    }
}
