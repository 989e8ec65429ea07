import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite(.enabled(if: !onSQLite, "a file takes no round trips"))
struct `Round trips of a commit` {
    /// A kind of command.
    struct Command: CustomTestStringConvertible, Sendable {
        let name: String
        /// Runs the command with a number.
        let run: @Sendable (SampleApplication, Int, Target) async throws -> Void

        var testDescription: String { name }
    }

    /// What a command changes.
    struct Target: Sendable {
        let conversation: Conversation.ID
        let message: Message
    }

    @Test(arguments: commands)
    func `are at most two, however many commands share it`(_ command: Command) async throws {
        let sample = try await SampleApplication()
        var counts: [Int] = []
        for (count, isOneConversation) in [(1, true), (10, true), (10, false), (64, true)] {
            var targets: [Target] = []
            for number in 0..<count {
                let conversation =
                    number > 0 && isOneConversation
                    ? targets[0].conversation
                    : try await sample.conversation([
                        .ana, .bo, .named("\(counts.count) \(number)"),
                    ])
                let message = try await sample.send(to: conversation).object.message
                targets.append(Target(conversation: conversation, message: message))
            }
            let before = sample.database.statistics
            let offset = counts.count * 100
            try await sample.runInOneCommit(
                targets.enumerated().map { number, target in
                    { sample in try await command.run(sample, offset + number, target) }
                }, ignoringFailures: false)
            let after = sample.database.statistics
            // The first commit is that of the change that blocks the writer; it takes two.
            #expect(after.commits == before.commits + 2)
            counts.append(after.roundTrips - before.roundTrips - 2)
        }
        print(
            "round trips of \(command.name): \(counts[0]) alone, ten in one conversation \(counts[1]),",
            "ten in ten \(counts[2]), 64 in one \(counts[3])")
        #expect(counts.allSatisfy { count in count <= 2 })
    }

    private static let commands = [
        Command(name: "sending") { sample, number, target in
            try await sample.send("\(number)", to: target.conversation)
        },
        Command(name: "sending with an id and a key") { sample, number, target in
            let id = UInt128(10_000 + 2 * number)
            try await sample.send(
                to: target.conversation, id: .sample(id), key: .sample(id + 1))
        },
        Command(name: "creating with known users") { sample, number, _ in
            try await sample.create([.ana, .bo])
        },
        Command(name: "creating with new users") { sample, number, _ in
            try await sample.create([.ana, .named("new \(number)"), .named("other \(number)")])
        },
        Command(name: "creating with a key") { sample, number, _ in
            try await sample.create([.ana, .bo], key: .sample(UInt128(20_000 + number)))
        },
        Command(name: "creating a distinct conversation") { sample, number, _ in
            try await sample.create([.ana, .named("\(number)")], isDistinct: true)
        },
        Command(name: "patching metadata") { sample, number, target in
            try await sample.patch(
                target.conversation, .setMetadata(path: ["key\(number)"], .text("\(number)")))
        },
        Command(name: "a delivery receipt") { sample, _, target in
            try await sample.store.recordReceipt(
                .delivery, of: target.message.id, by: .bo, in: sample.application)
        },
        Command(name: "a read receipt") { sample, _, target in
            try await sample.store.recordReceipt(
                .read, of: target.message.id, by: .bo, in: sample.application)
        },
        Command(name: "adding a part") { sample, number, target in
            _ = try await sample.store.addPart(
                .text("\(number)"), to: target.message.id, in: target.conversation, by: .system,
                in: sample.application)
        },
        Command(name: "adding a part as the sender") { sample, number, target in
            _ = try await sample.store.addPart(
                .text("\(number)"), to: target.message.id, in: nil, by: .user(.ana),
                in: sample.application)
        },
        Command(name: "replacing a part") { sample, number, target in
            try await sample.store.changeParts(
                .replace(.index(0), .text("\(number)")), of: target.message.id,
                in: target.conversation, by: .system, in: sample.application)
        },
        Command(name: "deleting a message") { sample, _, target in
            try await sample.store.deleteMessage(
                target.message.id, in: target.conversation, in: sample.application)
        },
        Command(name: "deleting a message as the sender") { sample, _, target in
            try await sample.store.deleteMessage(
                target.message.id, forAll: true, by: .ana, in: sample.application)
        },
    ]
}
