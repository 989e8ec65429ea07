import HTTP
import JSON
import Locking
import PlatformAPI

/// The description of one version, as everybody can fetch it.
struct Described: Sendable {
    /// One operation of it.
    struct Operation: Sendable {
        let name: String
        let method: String
        let path: String
        let json: JSONValue

        /// What is said of a body that is JSON; `nil` for none, and for one of another type.
        var jsonBody: JSONValue? {
            json["requestBody"]?["content"]?.members.first { type, _ in type.hasSuffix("json") }?
                .value
        }
    }

    let root: JSONValue
    let operations: [Operation]
    private let router: Router<Operation>

    /// Fetched and read once for each version, which takes a second: hundreds of cases ask for it.
    static func of(_ version: String) async throws -> Described {
        try await readings.withLock { readings in
            let reading = readings[version] ?? Task { try await fetched(version) }
            readings[version] = reading
            return reading
        }.value
    }

    private static let readings: Locked<[String: Task<Described, any Error>]> = Locked([:])

    private static func fetched(_ version: String) async throws -> Described {
        let door = RouterDoor(service: try await World.shared.service)
        let answer = try await door.ask(
            PlainRequest(
                method: "GET", target: "/openapi.json?version=\(version)", fields: [], body: ""))
        return Described(try JSONDocument(Array(answer.body.utf8)).root)
    }

    private init(_ root: JSONValue) {
        self.root = root
        var operations: [Operation] = []
        var router = Router<Operation>(allowsTrailingSlash: true)
        for (path, methods) in root["paths"]?.members ?? root.members {
            for (method, json) in methods.members {
                guard let name = json["operationId"]?.string,
                    let known = HTTP.Method(rawValue: method.uppercased())
                else { continue }
                let operation = Operation(
                    name: name, method: known.rawValue, path: path, json: json)
                operations.append(operation)
                router.add(known, PathTemplate(path), operation)
            }
        }
        self.operations = operations
        self.router = router
    }

    /// The operation a request is meant for; `nil` for what is not described.
    func operation(_ request: PlainRequest) -> Operation? {
        let override = request.fields.first { $0.name.lowercased() == "x-http-method-override" }
        let name =
            request.method == "POST"
            ? override?.value.uppercased() ?? request.method : request.method
        guard let method = HTTP.Method(rawValue: name),
            case .found(let operation, _, _) = router.match(method, RequestTarget(request.target)),
            operation.method == name
        else { return nil }
        return operation
    }

    /// What an answer has that its description does not say, or the other way round; `nil` for
    /// nothing.
    func problem(_ answer: PlainAnswer, of operation: Operation) -> String? {
        let check = SchemaCheck(root: root)
        guard let described = operation.json["responses"]?[String(answer.status)] else {
            return "\(operation.name): the status \(answer.status) is not described"
        }
        let shape = check.resolved(described)
        for (name, field) in (shape["headers"] ?? root).members
        where field["required"]?.bool == true && answer[name] == nil {
            return "\(operation.name): the field \(name) is missing"
        }
        // What is coded is not read here.
        guard answer["Content-Encoding"] == nil else { return nil }
        if let type = answer["Content-Type"], shape["content"]?[type] != nil { return nil }
        guard let schema = shape["content"]?["application/json"]?["schema"] else {
            return answer.body.isEmpty ? nil : "\(operation.name): the body is not described"
        }
        guard let value = try? JSONDocument(Array(answer.body.utf8)).root else {
            return "\(operation.name): the body is no JSON"
        }
        return check.problem(value, schema).map { "\(operation.name) \(answer.status): \($0)" }
    }
}
