import Testing

@testable import ParleyServer

@Suite struct `The table of endpoints` {
    @Test func `is what the article Endpoints shows`() throws {
        #expect(try Repository.article("Endpoints").contains(EndpointTable.markdown))
    }
}
