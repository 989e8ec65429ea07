import Testing

@testable import HTTP

@Suite struct `Limits of streams` {
    @Test func `count per user and in total, and free released slots (H155, H157)`() throws {
        let limits = StreamLimits(maximum: 3, maximumPerUser: 2)
        let first = try limits.admit("ada")
        let second = try limits.admit("ada")
        #expect(refusal { try limits.admit("ada") } == .tooManyRequests)
        var third: StreamSlot? = try limits.admit("bob")
        #expect(refusal { try limits.admit("cyd") } == .serviceUnavailable)
        third = nil
        #expect(third == nil)
        first.release()
        first.release()
        #expect(limits.count == 1)
        #expect(refusal { try limits.admit("ada") } == nil)
        second.release()
        #expect(limits.count == 0)
    }

    private func refusal(_ admit: () throws -> StreamSlot) -> Status? {
        do {
            _ = try admit()
            return nil
        } catch {
            return (error as? Refusal)?.status
        }
    }
}
