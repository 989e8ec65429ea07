import HTTP
import JSON
import MessagingWire
import Testing

@testable import PlatformAPI

/// `Prefer: handling=strict` and the members of bodies (RFC 7240 section 4.4).
@Suite struct `Members under strict handling` {
    private static let strict = (name: "Prefer", value: "handling=strict")

    @Test(arguments: [
        (#"{"participants":["ana"],"distnct":true}"#, "distnct", "did you mean `distinct`?"),
        (#"{"participants":["ana"],"colour":"red"}"#, "colour", "known are `participants`"),
        (#"{"Participants":["ana"]}"#, "Participants", "did you mean `participants`?"),
    ])
    func `an unknown one is refused with the nearest name, and nothing is stored`(
        body: String, property: String, text: String
    ) async throws {
        let scene = try await Scene.make(version: "3.0")
        let before = try await scene.eventCount()
        let answer = try await create(body, [Self.strict], in: scene)
        let error = try JSONDocument(Array(answer.body.utf8)).root
        #expect(answer.status == 422)
        #expect(answer["Preference-Applied"] == "handling=strict")
        #expect(error["id"]?.string == "invalid_property")
        #expect(error["data"]?["property"]?.string == property)
        #expect(error["message"]?.string?.contains(text) == true)
        #expect(try await scene.eventCount() == before)
    }

    @Test(arguments: [("3.0", false), ("2.0", true), ("1.1", true)])
    func `an unknown one is ignored without the preference, and before 3_0`(
        version: String, isStrict: Bool
    ) async throws {
        let scene = try await Scene.make(version: version)
        let body = #"{"participants":["ana"],"distnct":true}"#
        let answer = try await create(body, isStrict ? [Self.strict] : [], in: scene)
        #expect(answer.status == 201)
        #expect(answer.body.contains(#""distinct":false"#))
    }

    @Test func `keys of metadata are the client's own`() async throws {
        let scene = try await Scene.make(version: "3.0")
        let body = #"{"participants":["ana"],"metadata":{"distnct":{"any":"x"}}}"#
        let answer = try await create(body, [Self.strict], in: scene)
        #expect(answer.status == 201)
        #expect(answer["Preference-Applied"] == "handling=strict")
    }

    @Test(arguments: Endpoint.all.map { "\($0.method.rawValue) \($0.path)" })
    func `the example of each endpoint has known ones only`(line: String) async throws {
        var play = try await ExamplePlay(version: "3.0")
        guard
            let operation = play.description.operations.first(where: {
                "\($0.method) \($0.path)" == line
            }), operation.jsonBody != nil
        else { return }
        try await play.prepare(operation)
        var request = try play.request(operation)
        request.fields.append(Self.strict)
        let answer = try await play.door.ask(request)
        #expect(answer.status < 300, "\(answer.body)")
    }

    @Test(arguments: [
        (#"{"a":1}"#, nil), (#"{"a":{"b":1}}"#, nil), (#"{"list":[{"c":1}]}"#, nil),
        (#"{"b":1}"#, "b"), (#"{"list":[{"c":1},{"d":1}]}"#, "list.d"),
        (#"{"list":{"d":1}}"#, "list.d"), (#"{"free":{"x":{"y":1}}}"#, nil), (#"[1]"#, nil),
        (#"{"either":{"m":1,"n":1}}"#, nil), (#"{"either":{"o":1}}"#, "either.o"),
        (#"{"map":{"x":{"c":1}}}"#, nil), (#"{"map":{"x":{"d":1}}}"#, "map.x.d"),
    ])
    func `a schema knows its members, those of alternatives, and any of a free object`(
        json: String, path: String?
    ) throws {
        let element = JSONSchema.object([.required("c", .integer)])
        let schema = JSONSchema.named(
            "Sample",
            .object([
                .optional("a", .integer), .optional("list", .array(of: element)),
                .optional("free", .object([])),
                .optional("map", .object([], others: element)),
                .optional(
                    "either",
                    .anyOf([
                        .object([.required("m", .integer)]), .object([.required("n", .integer)]),
                    ])),
            ]))
        let found = schema.unknownMember(in: try JSONDocument(Array(json.utf8)).root)
        #expect(found?.path.joined(separator: ".") == path)
    }

    private func create(
        _ body: String, _ fields: [(name: String, value: String)], in scene: Scene
    ) async throws -> PlainAnswer {
        try await scene.ask(
            "POST", "/apps/{app}/conversations", body, fields: fields,
            by: RouterDoor(service: scene.world.service))
    }
}
