import JSON
import Messaging
import MessagingStore
import Testing

@testable import PlatformAPI

/// Sends the examples of a description to a new application.
struct DescriptionExamples {
    let description: DescribedAPI
    /// The description of the Platform API, whose examples create what users cannot.
    private let platform: DescribedAPI
    /// The credential of the requests that need no other one.
    private var session: String?
    /// An identity token of the user, for the example that begins a session.
    private var identityToken: String?
    let sample: SampleApplication
    let client: any TestClient
    /// The server's ids that replace the sample ids, each of 36 bytes.
    private var found: [ArraySlice<UInt8>: [UInt8]] = [:]
    private var sent: Set<String> = []

    /// - Parameter isOfClients: Whether the examples are those of the Client API, sent for the user bo.
    init(version: String, isOfClients: Bool = false) async throws {
        platform = try await DescribedAPI.of(version)
        description = isOfClients ? try await DescribedAPI.ofClients(version) : platform
        if isOfClients {
            let login = try await LoginFixture.make(version: version)
            sample = login.sample
            session = try await login.session(of: "bo")
            identityToken = try await login.token(of: "bo")
        } else {
            sample = try await SampleApplication.make(version: version)
        }
        client = RouterClient(service: sample.server.service)
        replace("7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55", by: sample.application.uuid)
    }

    /// Sends the requests that an operation's example needs, but not the example itself.
    mutating func prepare(_ operation: DescribedAPI.Operation) async throws {
        // No operation of the Platform API begins a session.
        if operation.path.contains("{session}"), let bo = UserID("bo") {
            let created = try await sample.server.store.beginDevelopmentSession(
                of: bo, in: sample.application)
            replace("1c9e7b42-5a3d-4f60-8e21-f0a1b2c3d4e5", by: created.session.id.uuid)
        }
        for name in operation.json["x-example"]?["after"]?.elements.compactMap(\.string) ?? []
        where sent.insert(name).inserted {
            let maker = try #require(
                (description.operations + platform.operations).first { $0.name == name })
            try await prepare(maker)
            let answer = try await send(maker)
            try #require(answer.status < 300, "\(name): \(answer.body)")
            try await remember(answer)
        }
    }

    /// Sends an operation's example, with another body and other parameters by name; a parameter
    /// that is `nil` is left out.
    func send(
        _ operation: DescribedAPI.Operation, body: [UInt8]? = nil,
        parameters changed: [String: String?] = [:]
    ) async throws -> PlainAnswer {
        try await client.send(request(operation, body: body, parameters: changed))
    }

    /// The request that ``send(_:body:parameters:)`` sends.
    func request(
        _ operation: DescribedAPI.Operation, body: [UInt8]? = nil,
        parameters changed: [String: String?] = [:]
    ) throws -> PlainRequest {
        var path = operation.path
        var query: [String] = []
        var fields = [
            (name: "Authorization", value: try credential(operation)),
            (name: "Accept", value: try accept(operation)),
        ]
        for parameter in operation.json["parameters"]?.elements ?? operation.json.elements {
            let example = parameter["example"].map { $0.string ?? $0.description }
            guard let name = parameter["name"]?.string,
                let text = changed[name] ?? example.map(real)
            else { continue }
            switch parameter["in"]?.string {
            case "path": path = path.replacing("{\(name)}", with: text)
            case "query": query.append("\(name)=\(text)")
            default: fields.append((name, text))
            }
        }
        let content = operation.json["requestBody"]?["content"]?.members.first { _ in true }
        if let type = content?.key { fields.append(("Content-Type", type)) }
        return PlainRequest(
            method: operation.method,
            target: path + (query.isEmpty ? "" : "?" + query.joined(separator: "&")),
            fields: fields, body: "", bytes: body ?? self.body(of: operation))
    }

    private func credential(_ operation: DescribedAPI.Operation) throws -> String {
        guard let session, !operation.path.hasPrefix("/apps/") else {
            return try "Bearer {token}".filled(with: sample.variables)
        }
        return "Layer session-token=\"\(session)\""
    }

    /// The value of `Accept`: that of the document, unless the operation has its own.
    private func accept(_ operation: DescribedAPI.Operation) throws -> String {
        try operation.json["x-accept"]?.string
            ?? "application/vnd.layer+json; version={version}".filled(with: sample.variables)
    }

    /// The body of an operation's example; empty for none.
    func body(of operation: DescribedAPI.Operation) -> [UInt8] {
        let content = operation.json["requestBody"]?["content"]?.members.first { _ in true }
        guard let content, let example = content.value["example"] else { return [] }
        let isJSON = content.key.hasSuffix("json")
        let text = isJSON ? nil : example.string
        if let identityToken, example["identity_token"] != nil {
            let body = String(decoding: example.raw, as: UTF8.self)
            return real(Array(body.replacing(Sample.identityToken, with: identityToken).utf8))
        }
        return real(text.map { text in Array(text.utf8) } ?? Array(example.raw))
    }

    /// Replaces a sample id from now on; the first replacement of each stays.
    private mutating func replace(_ sample: some StringProtocol, by id: some StringProtocol) {
        let sample = Array(sample.utf8)[...]
        if found[sample] == nil { found[sample] = Array(id.utf8) }
    }

    /// The ids of the objects that the examples have created, and of the application.
    var ids: [String] { found.values.map { id in String(decoding: id, as: UTF8.self) } }

    private func real(_ text: String) -> String {
        String(decoding: real(Array(text.utf8)), as: UTF8.self)
    }

    /// A text with the server's ids. It is searched once for all of them: to look for each takes seconds in debug builds.
    private func real(_ text: [UInt8]) -> [UInt8] {
        var (made, index) = ([UInt8](), 0)
        made.reserveCapacity(text.count)
        while index < text.count {
            if index + 36 <= text.count, text[index + 8] == UInt8(ascii: "-"),
                let id = found[text[index..<index + 36]]
            {
                made += id
                index += 36
            } else {
                made.append(text[index])
                index += 1
            }
        }
        return made
    }

    /// Stores the id of a created object, and uploads a content that waits for its bytes.
    private mutating func remember(_ answer: PlainAnswer) async throws {
        guard !answer.body.isEmpty else { return }
        let made = try JSONDocument(Array(answer.body.utf8)).root
        guard let names = made["id"]?.string?.split(separator: "/"), names.count > 2 else { return }
        let kind = names[names.count - 2]
        for operation in description.operations {
            for parameter in operation.json["parameters"]?.elements ?? operation.json.elements
            where parameter["name"]?.string.map({ $0 == kind || $0.plurals.contains(kind) }) == true
            {
                // The number of a part would be replaced everywhere.
                guard let sample = parameter["example"]?.string, sample.utf8.count == 36 else {
                    continue
                }
                replace(sample, by: names[names.count - 1])
            }
        }
        guard let url = made["upload_url"]?.string, let size = made["size"]?.integer else { return }
        let uploaded = try await client.send(
            PlainRequest(
                method: "PUT", target: String(url.dropFirst(TestServer.base.count)), fields: [],
                body: "", bytes: [UInt8](repeating: 0x61, count: Int(size))))
        #expect(uploaded.status == 200)
    }
}

extension String {
    /// Possible plurals.
    fileprivate var plurals: [Substring] { [self + "s", dropLast() + "ies"].map { $0[...] } }
}
