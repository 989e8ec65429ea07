import Messaging
import TestSupport
import Testing

@Suite struct `Distinct keys` {
    @Test(arguments: 0..<500) func `R3: same users in any order and number, same key`(
        case number: UInt64
    ) {
        var any = Generator(number)
        let users = any.users()
        let again = (users + users).shuffled(using: &any)
        #expect(key(of: users) == key(of: again))
    }

    @Test(arguments: 0..<500) func `R3: other users, other key`(case number: UInt64) {
        var any = Generator(number)
        let (left, right) = (any.users(), any.users())
        #expect((key(of: left) == key(of: right)) == (Set(left) == Set(right)))
    }

    @Test func `names that run together are told apart`() {
        #expect(key(of: [.named("ab"), .named("c")]) != key(of: [.named("a"), .named("bc")]))
    }

    private func key(of users: [UserID]) -> DistinctKey {
        DistinctKey(Participants(users), hash: { bytes in bytes })
    }
}
