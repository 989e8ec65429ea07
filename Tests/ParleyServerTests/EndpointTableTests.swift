import Testing

@testable import ParleyServer

@Suite struct `The table of endpoints` {
    @Test func `is what the README shows`() throws {
        #expect(try Repository.text("README.md").contains(EndpointTable.markdown))
    }
}
