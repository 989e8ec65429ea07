import JSON
import Messaging
import MessagingStore
import MessagingWire

/// Two servers for one sequence at a time, with clocks that do not advance between operations.
struct ModelServers: Sendable {
    let main: TestServer
    /// The server to import into.
    let other: TestServer

    /// - Parameter limit: The number of participants above which a conversation is wide (ruling 38).
    static func make(wideAbove limit: Int = 100) async throws -> ModelServers {
        var limits = MessagingLimits()
        limits.wideConversation = limit
        return ModelServers(
            main: try await .withManualClock(limits), other: try await .withManualClock(limits))
    }

    /// The number of participants above which a conversation is wide.
    var wideLimit: Int { main.store.limits.wideConversation }
}

/// The first response that differs from the model.
struct ModelFailure {
    /// The number of the operation, also for a read after it.
    let number: Int
    let request: PlainRequest
    let difference: String
    let answer: PlainAnswer
    /// Every request up to it, with its status.
    let history: [String]
}

/// A sequence of operations, applied to a server and to the model.
struct ModelRun {
    private let servers: ModelServers
    private let sequence: [ModelOperation]
    private var sample: SampleApplication
    private var model: ReferenceModel
    private var history: [String] = []
    /// Requests with a key, and their responses.
    private var keyedRequests: [Int: (request: PlainRequest, answer: PlainAnswer)] = [:]

    /// - Parameter wrongRule: A rule of the model that is wrong on purpose.
    /// - Returns: The first difference; `nil` when all responses agree with the model.
    static func failure(
        of sequence: [ModelOperation], on servers: ModelServers,
        wrongRule: ReferenceModel.WrongRule? = nil
    ) async throws -> ModelFailure? {
        let store = servers.main.store
        let application = try await store.createApplication(name: "model").id
        let token = try await store.createToken(for: application, scope: .admin).secret
        let sample = SampleApplication(
            server: servers.main, application: application,
            variables: ["app": application.uuid, "token": token, "version": "3.0"])
        var run = ModelRun(
            servers: servers, sequence: sequence, sample: sample,
            model: ReferenceModel(
                application: application.uuid, wideAbove: servers.wideLimit, wrongRule: wrongRule))
        return try await run.failure()
    }

    private mutating func failure() async throws -> ModelFailure? {
        for operation in sequence {
            if let failure = try await perform(operation) { return failure }
        }
        let number = sequence.last?.number ?? 0
        if let failure = try await readEverything(number) { return failure }
        if let difference = try await differenceOfFold() {
            return failure(number, "the replica of the event log", difference)
        }
        return try await failureOfImport(number)
    }

    private mutating func perform(_ operation: ModelOperation) async throws -> ModelFailure? {
        servers.main.clock.advance(by: operation.pause)
        model.now = servers.main.clock.now().milliseconds
        if case .again(let earlier) = operation.action {
            return try await repeated(earlier, operation.number)
        }
        let request = operation.request(in: model)
        let answer = try await sample.client.send(filled(request))
        note(operation.number, request, answer)
        if operation.hasKey, ["POST", "PATCH"].contains(request.method) {
            keyedRequests[operation.number] = (request, answer)
        }
        let value = Self.value(of: answer)
        let made = value?["id"]?.text.map { id in String(id.suffix(36)) }
        let expected = model.perform(operation, made: made)
        if let difference = expected.difference(from: answer, value) {
            return failure(operation.number, request, difference, answer)
        }
        for read in operation.reads {
            if let failure = try await compare(read, operation.number, operation.version) {
                return failure
            }
        }
        return nil
    }

    /// Repeats a request: its response was stored if it succeeded (X2, ruling 12).
    private mutating func repeated(_ earlier: Int, _ number: Int) async throws -> ModelFailure? {
        guard let (request, first) = keyedRequests[earlier], (200..<300).contains(first.status)
        else {
            return nil
        }
        let answer = try await sample.client.send(filled(request))
        note(number, request, answer)
        guard answer.status == first.status, answer.body == first.body,
            answer["Idempotent-Replayed"] == "true"
        else {
            return failure(number, request, "expected \(first.status) \(first.body)", answer)
        }
        return nil
    }

    private func compare(
        _ read: ModelRead, _ number: Int, _ version: APIVersion
    ) async throws -> ModelFailure? {
        let request = read.request(in: model, version)
        let answer = try await sample.client.send(filled(request))
        let expected = model.answer(to: read, version)
        return expected.difference(from: answer, Self.value(of: answer)).map { difference in
            failure(number, request, difference, answer)
        }
    }

    /// Reads every object in every way, each in one of the versions.
    private func readEverything(_ number: Int) async throws -> ModelFailure? {
        var reads: [ModelRead] = [.userCount, .conversations(size: 100, after: nil)]
        for operation in sequence {
            switch operation.action {
            case .create:
                reads += [
                    .conversation(operation.number),
                    .messages(operation.number, size: 100, after: nil),
                ]
                for user in ModelUser.all {
                    reads += [
                        .userConversation(user, operation.number),
                        .userMessages(user, operation.number, size: 100, after: nil),
                    ]
                }
            case .send:
                reads += [
                    .message(operation.number),
                    .userMessage(
                        ModelUser.all[operation.number % ModelUser.all.count], operation.number),
                ]
            case .announce: reads.append(.announcement(operation.number, by: nil))
            default: break
            }
        }
        for user in ModelUser.all {
            reads += [
                .userConversations(user, byLastMessage: true, size: 100, after: nil),
                .userConversations(user, byLastMessage: false, size: 100, after: nil),
                .badge(user), .user(user), .blocks(user),
                .announcements(user, size: 100, after: nil),
            ]
        }
        for (index, read) in reads.enumerated() {
            let version = APIVersion.allCases[(index / 2 + number) % APIVersion.allCases.count]
            if let failure = try await compare(read, number, version) { return failure }
        }
        return nil
    }

    // MARK: - Event log, export, import

    /// Replicates the event log page by page, and compares the result with the API (X3).
    private func differenceOfFold() async throws -> String? {
        var (folded, shown) = (LogReplica(), LogReplica())
        var position: Int64 = 0
        while true {
            let page = try await get("/events?after=\(position)&limit=61")
            for event in page["events"]?.elements.map(\.self) ?? [] { folded.apply(event) }
            guard let next = page["next"]?.integer, next > position else { break }
            position = next
        }
        for conversation in model.conversations where !conversation.isDeleted {
            shown.store(conversation: try await get("/conversations/\(conversation.id)"))
            for message in try await get("/conversations/\(conversation.id)/messages?page_size=100")
                .elements
            {
                shown.store(message: message)
            }
        }
        // A wide conversation shows the number of recipients with each status, and an event what was shown then.
        if ModelUser.all.count > servers.wideLimit {
            folded.forgetStatuses()
            shown.forgetStatuses()
        }
        return folded == shown ? nil : "\(folded)\nis not what the API shows:\n\(shown)"
    }

    /// Imports the export into another server, and compares its export and its responses (X10).
    private mutating func failureOfImport(_ number: Int) async throws -> ModelFailure? {
        let lines = try await sample.exported()
        let copy = try await sample.empty(in: servers.other)
        let taken = try await copy.importLines(Array(lines.utf8))
        guard taken.status == 200 else { return failure(number, "the import", "\(taken)") }
        let again = try await copy.exported()
        guard again == lines else {
            let pairs = zip(lines.split(separator: "\n"), again.split(separator: "\n"))
            let pair = pairs.first { one, other in one != other }
            return failure(
                number, "the export of the import", pair.map { "\($0)\n\($1)" } ?? "the length")
        }
        sample = copy
        history.append("       (export, import into another server)")
        return try await readEverything(number)
    }

    // MARK: -

    private func get(_ path: String) async throws -> JSONValue {
        let answer = try await sample.send("GET", "/apps/{app}\(path)", by: sample.client)
        return try JSONDocument(Array(answer.body.utf8)).root
    }

    private func filled(_ request: PlainRequest) -> PlainRequest {
        var request = request
        request.target = request.target.replacing("{app}", with: model.application)
        request.fields[0].value = "Bearer \(sample.variables["token"] ?? "")"
        return request
    }

    private static func value(of answer: PlainAnswer) -> ModelValue? {
        (try? JSONDocument(Array(answer.body.utf8)).root).map { root in ModelValue(root) }
    }

    private mutating func note(_ number: Int, _ request: PlainRequest, _ answer: PlainAnswer) {
        history.append("\(number): \(request.line) → \(answer.status)")
    }

    private func failure(_ number: Int, _ target: String, _ difference: String) -> ModelFailure {
        failure(
            number, PlainRequest(method: "", target: target, fields: [], body: ""), difference,
            PlainAnswer(status: 0, fields: [], body: ""))
    }

    private func failure(
        _ number: Int, _ request: PlainRequest, _ difference: String, _ answer: PlainAnswer
    ) -> ModelFailure {
        ModelFailure(
            number: number, request: request, difference: difference, answer: answer,
            history: history)
    }
}

extension PlainRequest {
    /// The request in one line.
    fileprivate var line: String {
        let version = fields.first { $0.name == "Accept" }?.value.suffix(3) ?? ""
        let key = fields.first { $0.name == "If-None-Match" }.map { " If-None-Match: \($0.value)" }
        return "\(version) \(method) \(target)\(key ?? "") \(body)"
    }
}

extension ModelFailure: CustomStringConvertible {
    var description: String {
        """
        after operation \(number), \(request.line.inASCII)
        \(difference)
        answer: \(answer.body.inASCII)
        sequence:
        \(history.joined(separator: "\n").inASCII)
        """
    }
}
