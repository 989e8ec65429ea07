import JSON

extension JSONValue {
    /// A member that says something: an explicit `null` counts as missing (ruling 2).
    func present(_ name: String) -> JSONValue? {
        guard let value = self[name], !value.isNull else { return nil }
        return value
    }
}
