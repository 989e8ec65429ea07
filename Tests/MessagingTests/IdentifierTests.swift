import Messaging
import Testing

@Suite struct `Identifiers` {
    @Test func `any case is read and lower case is written`() throws {
        let id = try #require(Message.ID(uuid: "A1F4C2D8-7e65-4B93-9c0d-1E2F3A4B5C6D"))
        #expect(id.uuid == "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d")
        #expect(Message.ID(bytes: id.bytes) == id)
    }

    @Test(arguments: [
        "", "a1f4c2d87e654b939c0d1e2f3a4b5c6d", "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6",
        "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d0", "g1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d",
        "{a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d}", "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d\0",
        "\"a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d\"", "a1f4c2d87-e65-4b93-9c0d-1e2f3a4b5c6d",
    ]) func `another text is none`(text: String) {
        #expect(Message.ID(uuid: text) == nil)
    }

    @Test func `version 7 names the time and sorts by it`() {
        let early = Message.ID.v7(at: Timestamp(milliseconds: 0x0190_0000_0001), random: .max)
        let late = Message.ID.v7(at: Timestamp(milliseconds: 0x0190_0000_0002), random: 0)
        #expect(early.uuid == "01900000-0001-7fff-bfff-ffffffffffff")
        #expect(late.uuid == "01900000-0002-7000-8000-000000000000")
        #expect(early < late)
    }
}
