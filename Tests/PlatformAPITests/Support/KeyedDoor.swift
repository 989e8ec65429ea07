import FoundationEssentials

/// Another way in: each `POST` and `PATCH` gets a key that nobody has used.
struct KeyedDoor<Other: Door>: Door {
    let door: Other

    func ask(_ request: PlainRequest) async throws -> PlainAnswer {
        var request = request
        let hasKey = request.fields.contains { field in field.name == "Idempotency-Key" }
        if request.method == "POST" || request.method == "PATCH", !hasKey {
            request.fields.append(("Idempotency-Key", UUID().uuidString))
        }
        return try await door.ask(request)
    }
}
