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
    func `takes the six forms and the empty spellings (5.2)`(text: String, range: ContentRange) {
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
    func `anything else is refused (5.2)`(text: String) {
        #expect(ContentRange(text) == nil)
    }
}
