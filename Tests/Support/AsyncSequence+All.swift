extension AsyncSequence {
    /// Everything, in order.
    public func all() async throws -> [Element] {
        try await reduce(into: []) { all, element in all.append(element) }
    }
}
