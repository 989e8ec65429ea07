import HTTP
import Testing

@testable import Uploads

@Suite struct `A structured field with one item` {
    @Test(
        arguments: [
            ("0", 0), ("-7", -7), ("0042", 42), ("999999999999999", 999_999_999_999_999),
            ("1;a", 1), ("1;a=1; b=\"x\";*c=?1", 1), (" 5 ", 5), ("1000000000000000", nil),
            ("", nil), ("-", nil), ("--1", nil), ("+1", nil), ("1.0", nil), ("1, 2", nil),
            ("(1)", nil), ("?1", nil), ("1;", nil), ("1;A=1", nil), ("1 ;a", nil), ("1 2", nil),
        ] as [(String, Int64?)])
    func `may be an integer of at most 15 digits (7.2)`(text: String, number: Int64?) {
        #expect(Fields([("Upload-Offset", text)]).structuredInteger("Upload-Offset") == number)
    }

    @Test(
        arguments: [
            ("?1", true), ("?0", false), ("?0;a=b", false), ("?2", nil), ("1", nil), ("true", nil),
            ("?1, ?1", nil), ("", nil),
        ] as [(String, Bool?)])
    func `may be a truth (7.2)`(text: String, truth: Bool?) {
        #expect(Fields([("Upload-Complete", text)]).structuredBoolean("Upload-Complete") == truth)
    }

    @Test func `counts as absent when it comes twice or not at all (3.1)`() {
        let twice = Fields([("Upload-Offset", "1"), ("upload-offset", "1")])
        #expect(twice.structuredInteger("Upload-Offset") == nil)
        #expect(Fields([]).structuredInteger("Upload-Offset") == nil)
    }
}
