import JSON
import Messaging
import Testing

@testable import MessagingWire

@Suite struct `An erasure in JSON` {
    private static let links = LinkBuilder(
        publicBase: "https://chat.example.com",
        application: .v7(at: Timestamp(milliseconds: 0), random: 7))

    @Test(arguments: [
        (Erasure.State.running, [0xAB] as [UInt8]?, nil as Int64?), (.failed, nil, nil),
        (.failed, [0xAB], 3), (.completed, [0xAB], 3),
    ])
    func `has the result of a proof when it has ended with one (X16)`(
        state: Erasure.State, digest: [UInt8]?, remaining: Int64?
    ) throws {
        let erasure = Erasure(
            id: .v7(at: Timestamp(milliseconds: 0), random: 7), number: 1, state: state, round: 1,
            table: nil, isProving: true,
            requestedAt: Timestamp(milliseconds: 0),
            endedAt: state == .running ? nil : Timestamp(milliseconds: 1),
            counts: [
                Erasure.Count("messages", remaining: 1), Erasure.Count("events", remaining: 2),
            ],
            digest: digest, error: nil)
        let json = try JSONDocument(ErasureJSON.bytes(erasure, Self.links)).root
        #expect(json["remaining"]?.isNull == (remaining == nil))
        #expect(json["remaining"]?.integer == remaining)
        #expect(json["digest"]?.isNull == (remaining == nil))
        #expect(json["digest"]?.string == remaining.map { _ in "ab" })
    }
}
