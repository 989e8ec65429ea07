import HTTP
import Testing

@Suite struct `Numbers on the wire` {
    /// What a general conversion would take for 5, or for something near it.
    static let lookalikes = [
        "+5", "-5", "5_0", "0x5", "5.0", "5e0", " 5", "5 5", "\u{665}", "\u{FF15}", "5\u{0}", "",
        "9223372036854775808", "18446744073709551621", "99999999999999999999",
    ]

    @Test(arguments: lookalikes.filter { text in text != " 5" })
    func `a length is digits and nothing else (H2, H43)`(text: String) {
        #expect(Verdict(octets(get("Content-Length: \(text)"))).status == 400)
    }

    @Test(arguments: lookalikes.filter { text in !text.isEmpty })
    func `a port is digits and nothing else (H2, H35)`(text: String) {
        let message = "GET / HTTP/1.1\r\nHost: h:\(text)\r\n\r\n"
        #expect(Verdict(octets(message)).status == 400)
    }

    @Test(arguments: ["+1", "-1", " 1", "\u{661}", "1 ", "11"])
    func `a version is digits and nothing else (H2, H13)`(text: String) {
        #expect(Verdict(octets(request("GET / HTTP/1.\(text)"))).status == 400)
    }

    @Test func `leading zeros count as nothing (H2, H43)`() {
        #expect(
            Verdict(octets(get("Content-Length: 0000000000000000005"))).head?.framing == .length(5))
        #expect(Int64(decimal: "0000000000000000005".utf8) == 5)
        #expect(Int64(decimal: "00000000000000000005".utf8) == nil)
    }
}
