import Testing

@testable import ObjectStore

@Suite struct `Reading a document` {
    @Test func `walks over elements and texts`() throws {
        var reader = try XMLReader(
            Array(
                """
                  \n<?xml version="1.0" encoding="UTF-8"?>
                <A xmlns="http://x/" b = 'c"d'>
                  <B>one &amp; &lt;two&gt; &quot;&apos; &#65;&#x20AC;</B> <C/><D ><E>x</E>y</D>
                </A>

                """.utf8))
        #expect(try reader.root() == "A")
        #expect(try reader.child() == "B")
        #expect(try reader.text() == "one & <two> \"' A€")
        #expect(try reader.child() == "C")
        #expect(try reader.text() == "")
        #expect(try reader.child() == "D")
        try reader.pass()
        #expect(try reader.child() == nil)
        try reader.finish()
    }

    @Test(arguments: [
        "", " ", "no", "<", "<A", "<A>", "<A></B>", "<A><B></A></B>", "</A>", "<A/><B/>", "<A/>x",
        "x<A/>", "<A b/>", "<A b=c/>", "<A b=\"<\"/>", "<A b=\"c\"d=\"e\"/>", "<1/>", "< A/>",
        "<A>&x;</A>", "<A>&</A>", "<A>&#0;</A>", "<A>&#xD800;</A>", "<A>&#x110000;</A>",
        "<A>&#+65;</A>", "<A>&#;</A>", "<A>&amp</A>", "<A>&#00000000065;</A>", "<A>\u{0}</A>",
        "<A>\u{1B}</A>", "<!-- c --><A/>", "<A><!-- c --></A>", "<A><![CDATA[x]]></A>",
        "<A><?p?></A>",
        "<?xml", "<?xml?><A/>", "<!DOCTYPE A [<!ENTITY x \"y\">]><A>&x;</A>",
        "<!DOCTYPE A SYSTEM \"file:///etc/passwd\"><A/>", "<?xml-stylesheet href=\"x\"?><A/>",
        String(repeating: "<A>", count: 17) + String(repeating: "</A>", count: 17),
        "<" + String(repeating: "A", count: 65) + "/>",
    ])
    func `refuses what is hostile or broken`(text: String) {
        #expect(throws: XMLFault.self) { try pass(Array(text.utf8)) }
    }

    @Test func `refuses what is no text`() {
        #expect(throws: XMLFault.notText) { try pass([0x3C, 0x41, 0x3E, 0xFF]) }
    }

    @Test func `never goes on for a document that was cut`() throws {
        let whole = Array(
            "<?xml version=\"1.0\"?><A x=\"y\"><B>a&amp;b</B><C/><D><E>f</E></D></A>".utf8)
        try pass(whole)
        for count in whole.indices {
            #expect(throws: XMLFault.self) { try pass(Array(whole[..<count])) }
        }
    }

    private func pass(_ octets: [UInt8]) throws(XMLFault) {
        var reader = try XMLReader(octets)
        _ = try reader.root()
        try reader.pass()
        try reader.finish()
    }
}
