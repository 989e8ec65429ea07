/// Where a client's event stream broke off (H154).
public enum LastEventID {
    /// The most octets an id may have.
    static let maximum = 256

    /// Reads `Last-Event-ID`, or a parameter of the query where the route offers one.
    ///
    /// The header wins: a browser that reconnects sends it with the address of the first time.
    /// - Returns: `nil` when the client starts anew.
    /// - Throws: 400 when it is too long, repeated or not text.
    public static func read(
        _ request: Request, parameter: String? = nil
    ) throws(Refusal) -> String? {
        guard request.fields.occurrences(of: "Last-Event-ID") <= 1 else { throw .lastEventID }
        if let octets = request.fields.octets("Last-Event-ID"), !octets.isEmpty {
            guard isValid(octets), let id = String(validating: octets, as: UTF8.self) else {
                throw .lastEventID
            }
            return id
        }
        guard let parameter else { return nil }
        guard case .success(let parameters) = Result(catching: { try request.target.parameters() })
        else { throw .lastEventID }
        guard let id = parameters.first(where: { $0.name == parameter })?.value, !id.isEmpty else {
            return nil
        }
        guard isValid(id.utf8) else { throw .lastEventID }
        return id
    }

    /// Opaque but bounded, and nothing that ends a line of the stream.
    static func isValid(_ octets: some Collection<UInt8>) -> Bool {
        octets.count <= maximum
            && !octets.contains { octet in octet == 0 || octet == .cr || octet == .lf }
    }
}

extension Refusal {
    fileprivate static let lastEventID = Refusal(
        .badRequest, "H154", "The last event id is not one this server gave.")
}
