import Testing

@testable import ObjectStore

@Suite struct `Reading a document` {
    @Test func `reads elements and texts`() throws {
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
        try reader.skip()
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
    func `rejects hostile and malformed documents`(text: String) {
        #expect(throws: XMLError.self) { try pass(Array(text.utf8)) }
    }

    @Test func `rejects bytes that are no text`() {
        #expect(throws: XMLError.notText) { try pass([0x3C, 0x41, 0x3E, 0xFF]) }
    }

    @Test func `rejects a truncated document`() throws {
        let whole = Array(
            "<?xml version=\"1.0\"?><A x=\"y\"><B>a&amp;b</B><C/><D><E>f</E></D></A>".utf8)
        try pass(whole)
        for count in whole.indices {
            #expect(throws: XMLError.self) { try pass(Array(whole[..<count])) }
        }
    }

    private func pass(_ bytes: [UInt8]) throws(XMLError) {
        var reader = try XMLReader(bytes)
        _ = try reader.root()
        try reader.skip()
        try reader.finish()
    }
}

@Suite struct `Documents of a store` {
    @Test func `name an error, also after the white space that kept a connection alive (§10.3)`()
        throws
    {
        let text =
            "   \r\n<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code><Message>a &amp; b</Message>"
            + "<Region>eu</Region><Resource>/x</Resource></Error>"
        let error = try #require(ErrorDocument(Array(text.utf8)))
        #expect(error.code == "NoSuchKey")
        #expect(error.message == "a & b")
        #expect(error.region == "eu")
    }

    @Test(arguments: [
        "", "<html><body>Not Found</body></html>", "<Error></Error>", "<Error><Code>A</Code>",
        "<Errors><Code>A</Code></Errors>", "<!DOCTYPE html><html></html>",
    ])
    func `are errors only with an error code`(text: String) {
        #expect(ErrorDocument(Array(text.utf8)) == nil)
    }

    @Test func `list parts`() throws {
        let page = try PartPage(
            utf8Bytes(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <ListPartsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
                  <Bucket>b</Bucket><Key>k</Key><UploadId>u</UploadId>
                  <Initiator><ID>i</ID><DisplayName>n</DisplayName></Initiator>
                  <PartNumberMarker>1</PartNumberMarker><NextPartNumberMarker>3</NextPartNumberMarker>
                  <MaxParts>2</MaxParts><IsTruncated>true</IsTruncated>
                  <Part><PartNumber>2</PartNumber><LastModified>x</LastModified><ETag>"a"</ETag><Size>10485760</Size></Part>
                  <Part><PartNumber>3</PartNumber><ETag>&quot;b&quot;</ETag><Size>7</Size></Part>
                </ListPartsResult>
                """), after: 1)
        #expect(
            page.parts == [
                ObjectPart(number: 2, size: 10_485_760, tag: "\"a\""),
                ObjectPart(number: 3, size: 7, tag: "\"b\""),
            ])
        #expect(page.next == 3)
    }

    @Test(arguments: [
        ("a part twice", part(2) + part(2)), ("parts backwards", part(3) + part(2)),
        ("a part of the page before", part(1)), ("a part beyond 10000", part(10_001)),
        ("part 0", part(0)), ("no size", "<Part><PartNumber>2</PartNumber><ETag>e</ETag></Part>"),
        ("a negative size", "<Part><PartNumber>2</PartNumber><ETag>e</ETag><Size>-1</Size></Part>"),
        ("no ETag", "<Part><PartNumber>2</PartNumber><ETag/><Size>1</Size></Part>"),
        ("a next page without its beginning", part(2) + "<IsTruncated>true</IsTruncated>"),
        (
            "a next page that is this one",
            "<IsTruncated>true</IsTruncated><NextPartNumberMarker>1</NextPartNumberMarker>"
        ),
        (
            "a next page that leaves parts out",
            part(2)
                + "<IsTruncated>true</IsTruncated><NextPartNumberMarker>9</NextPartNumberMarker>"
        ),
        ("a value that is no boolean", "<IsTruncated>maybe</IsTruncated>"),
    ])
    func `of parts are rejected if they are inconsistent`(what: String, inside: String) {
        #expect(throws: XMLError.self, "\(what)") {
            try PartPage(utf8Bytes("<ListPartsResult>\(inside)</ListPartsResult>"), after: 1)
        }
    }

    @Test func `list open uploads, with keys that XML cannot hold`() throws {
        let page = try MultipartPage(
            utf8Bytes(
                """
                <ListMultipartUploadsResult><Bucket>b</Bucket><KeyMarker/><UploadIdMarker></UploadIdMarker>
                <NextKeyMarker>p/a%2Fb</NextKeyMarker><NextUploadIdMarker>u2</NextUploadIdMarker>
                <Upload><Key>p/a+b%01</Key><UploadId>u1</UploadId><Owner><ID>o</ID></Owner>
                <Initiated>2010-11-10T20:48:33.000Z</Initiated></Upload>
                <Upload><Key>p/a%2Fb</Key><UploadId>u2</UploadId><Initiated>some day</Initiated></Upload>
                <IsTruncated>true</IsTruncated><EncodingType>url</EncodingType>
                </ListMultipartUploadsResult>
                """), after: nil)
        #expect(
            page.uploads == [
                MultipartPage.Upload(key: "p/a b\u{1}", upload: "u1", initiated: 1_289_422_113_000),
                MultipartPage.Upload(key: "p/a/b", upload: "u2", initiated: nil),
            ])
        #expect(page.next == MultipartPage.Marker(key: "p/a/b", upload: "u2"))
        #expect(throws: XMLError.self) {
            try MultipartPage(
                utf8Bytes(
                    "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker>"
                        + "<NextUploadIdMarker>u</NextUploadIdMarker></ListMultipartUploadsResult>"),
                after: MultipartPage.Marker(key: "k", upload: "u"))
        }
    }

    @Test(arguments: [
        ("", nil), ("<NextUploadIdMarker>u2</NextUploadIdMarker>", "u2"),
    ]) func `list open uploads by their ids alone if the store does`(words: String, next: String?)
        throws
    {
        let whole = utf8Bytes(
            "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>\(words)</ListMultipartUploadsResult>"
        )
        guard let next else {
            #expect(throws: XMLError.self) { try MultipartPage(whole, after: nil) }
            return
        }
        let marker = MultipartPage.Marker(key: "", upload: next)
        #expect(try MultipartPage(whole, after: nil).next == marker)
        #expect(throws: XMLError.self) { try MultipartPage(whole, after: marker) }
    }

    @Test func `list objects and the token of the next page`() throws {
        let page = try ObjectPage(
            utf8Bytes(
                """
                <ListBucketResult><Name>b</Name><Prefix>p/</Prefix><KeyCount>2</KeyCount>
                <Contents><Key>p/a+b%01</Key><LastModified>2010-11-10T20:48:33.000Z</LastModified>
                <ETag>"e"</ETag><Size>7</Size></Contents>
                <Contents><Key>p/a%2Fb</Key><Size>0</Size></Contents>
                <Contents><Key>p/c</Key><LastModified>2010-11-10T20:48:33Z</LastModified><Size>1</Size></Contents>
                <IsTruncated>true</IsTruncated><NextContinuationToken>t2</NextContinuationToken>
                <EncodingType>url</EncodingType></ListBucketResult>
                """), after: nil)
        #expect(
            page.objects == [
                ObjectPage.Object(key: "p/a b\u{1}", modified: 1_289_422_113_000, size: 7),
                ObjectPage.Object(key: "p/a/b", modified: nil, size: 0),
                ObjectPage.Object(key: "p/c", modified: 1_289_422_113_000, size: 1),
            ])
        #expect(page.next == "t2")
    }

    @Test(arguments: [
        "<IsTruncated>true</IsTruncated>",
        "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>",
        "<Contents><Key>k</Key></Contents>", "<Contents><Size>1</Size></Contents>",
        "<Contents><Key>k</Key><Size>-1</Size></Contents>",
    ])
    func `that list no objects, or repeat themselves, are rejected`(inside: String) {
        #expect(throws: XMLError.self) {
            try ObjectPage(
                utf8Bytes("<ListBucketResult>\(inside)</ListBucketResult>"), after: "t")
        }
    }

    @Test(arguments: [
        "<CompleteMultipartUploadResult/>",
        "<CompleteMultipartUploadResult><ETag/></CompleteMultipartUploadResult>",
        "<CopyPartResult><ETag>e</ETag></CopyPartResult>", "<html/>", "",
    ])
    func `are no completion without the object's ETag`(text: String) {
        #expect(throws: XMLError.self) {
            try XMLReader.member("ETag", of: "CompleteMultipartUpload", utf8Bytes(text))
        }
    }

    @Test(arguments: ["Result", "Response"])
    func `are named after their operation`(ending: String) throws {
        let text = "<CopyPart\(ending)><A><ETag>x</ETag></A><ETag>e</ETag></CopyPart\(ending)>"
        #expect(try XMLReader.member("ETag", of: "CopyPart", utf8Bytes(text)) == "e")
    }

    @Test func `list the parts of an object`() {
        let parts = [
            ObjectPart(number: 1, size: 5, tag: "\"a\""),
            ObjectPart(number: 12, size: 5, tag: "<&>"),
        ]
        #expect(
            CompletionDocument.bytes(parts)
                == utf8Bytes(
                    "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                        + "<Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
                        + "<Part><PartNumber>12</PartNumber><ETag>&lt;&amp;&gt;</ETag></Part>"
                        + "</CompleteMultipartUpload>"))
    }

    private static func part(_ number: Int) -> String {
        "<Part><PartNumber>\(number)</PartNumber><ETag>e</ETag><Size>1</Size></Part>"
    }

    private func utf8Bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}
