import Testing

/// Random lives of a few users in a few conversations, beside the plain model of what each sees.
@Suite struct `Views beside a model` {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `lists, counts, messages and refusals agree, and the log makes the same rows (A, C, E, G)`(
        seed: UInt64
    ) async throws {
        var life = try await ModelLife(seed: seed)
        for step in 1...600 {
            try await life.step()
            try await life.compareOne(step)
            if step.isMultiple(of: 60) { try await life.compareAll(step) }
        }
        try await life.compareAll(600)
        try await life.replay()
    }
}
