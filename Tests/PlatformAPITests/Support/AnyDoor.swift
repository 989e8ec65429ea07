/// Another way in for each request: nobody knows which of several processes he will meet.
struct AnyDoor<Other: Door>: Door {
    let doors: [Other]

    func ask(_ request: PlainRequest) async throws -> PlainAnswer {
        guard let door = doors.randomElement() else {
            throw ExchangeFile.Mistake(text: "no door to \(request.target)")
        }
        return try await door.ask(request)
    }
}
