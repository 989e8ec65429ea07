import JSON
import Messaging
import MessagingWire
import Testing

@Suite struct `Content as it is shown` {
    private let content = ContentJSON(id: Sample.content, size: 48211, in: Sample.conversation)

    @Test func `waiting for its bytes it has an upload URL alone (5_4)`() {
        #expect(
            text { content.write(uploadURL: "https://u/1", into: &$0) } == """
                {"id":"layer:///content/\(Sample.content)","size":48211,\
                "upload_url":"https://u/1","download_url":null,"refresh_url":null,\
                "expiration":null}
                """)
    }

    @Test func `complete it has everything else (5_4)`() {
        let presentation = Sample.presentation(.v1_0)
        #expect(
            text { content.write(presentation.links, presentation.sign(Sample.content), into: &$0) }
                == """
                {"id":"layer:///content/\(Sample.content)","size":48211,\
                "download_url":"signed:\(Sample.content)",\
                "refresh_url":"\(Sample.root)/conversations/\(Sample.conversation)/content/\
                \(Sample.content)","expiration":"2026-03-01T09:15:30.042Z"}
                """)
    }
}
