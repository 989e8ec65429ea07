import JSON
import Messaging
import Testing

/// Sends the examples of a description to a fresh application.
struct ExamplePlay {
    let description: Described
    let scene: Scene
    let door: any Door
    /// What stands for the samples: ids the server has chosen.
    private var found: [(sample: String, id: String)]
    private var sent: Set<String> = []

    init(version: String) async throws {
        description = try await Described.of(version)
        scene = try await Scene.make(version: version)
        door = RouterDoor(service: scene.world.service)
        found = [("7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55", scene.application.uuid)]
    }

    /// Sends everything that an operation's example needs, but not the example itself.
    mutating func prepare(_ operation: Described.Operation) async throws {
        for name in operation.json["x-example"]?["after"]?.elements.compactMap(\.string) ?? []
        where sent.insert(name).inserted {
            let maker = try #require(description.operations.first { $0.name == name })
            try await prepare(maker)
            let answer = try await send(maker)
            try #require(answer.status < 300, "\(name): \(answer.body)")
            try await remember(answer)
        }
    }

    /// Sends an operation's example; `body` in place of its own.
    func send(
        _ operation: Described.Operation, body: [UInt8]? = nil
    ) async throws -> PlainAnswer {
        let parameters = Array(operation.json["parameters"]?.elements ?? operation.json.elements)
        var path = operation.path
        var query: [String] = []
        var fields: [(name: String, value: String)] = []
        for parameter in parameters {
            guard let name = parameter["name"]?.string, let value = parameter["example"] else {
                continue
            }
            let text = value.string ?? value.description
            switch parameter["in"]?.string {
            case "path": path = path.replacing("{\(name)}", with: text)
            case "query": query.append("\(name)=\(text)")
            default: fields.append((name, text))
            }
        }
        let content = operation.json["requestBody"]?["content"]?.members.first { _ in true }
        if let type = content?.key { fields.append(("Content-Type", type)) }
        let example = content?.value["example"].map { Array($0.raw) } ?? []
        return try await scene.ask(
            operation.method,
            real(path) + (query.isEmpty ? "" : "?\(real(query.joined(separator: "&")))"),
            fields: fields,
            octets: body ?? Array(real(String(decoding: example, as: UTF8.self)).utf8), by: door)
    }

    private func real(_ text: String) -> String {
        found.reduce(text) { text, pair in text.replacing(pair.sample, with: pair.id) }
    }

    /// Notes the id of what was made, and uploads what waits for its bytes.
    private mutating func remember(_ answer: PlainAnswer) async throws {
        guard !answer.body.isEmpty else { return }
        let made = try JSONDocument(Array(answer.body.utf8)).root
        guard let names = made["id"]?.string?.split(separator: "/"), names.count > 2 else { return }
        let kind = names[names.count - 2]
        for operation in description.operations {
            for parameter in operation.json["parameters"]?.elements ?? operation.json.elements
            where parameter["name"]?.string.map({ kind == $0 || kind == $0 + "s" }) == true {
                guard let sample = parameter["example"]?.string else { continue }
                found.append((sample, String(names[names.count - 1])))
            }
        }
        guard let url = made["upload_url"]?.string, let size = made["size"]?.integer else { return }
        let uploaded = try await door.ask(
            PlainRequest(
                method: "PUT", target: String(url.dropFirst(World.base.count)), fields: [],
                body: "", octets: [UInt8](repeating: 0x61, count: Int(size))))
        #expect(uploaded.status == 200)
    }
}
