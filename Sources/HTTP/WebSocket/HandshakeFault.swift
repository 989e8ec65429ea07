/// Why a handshake is refused, and what the client is told beside it (H127–H131).
struct HandshakeFault: Error {
    let refusal: Refusal
    var fields: [(name: FieldName, value: String)] = []
    var ending = Response.Ending.keep

    private init(_ status: Status, _ rule: StaticString, _ reason: StaticString) {
        refusal = Refusal(status, rule, reason)
    }

    func response(_ render: (Refusal) -> Response) -> Response {
        var response = render(refusal)
        for field in fields { response.fields.add(field.name, field.value) }
        response.ending = ending
        return response
    }

    /// Not a handshake at all, or one of another version (RFC 6455 §4.2.2, RFC 9110 §15.5.22); the
    /// serialiser adds `Connection: Upgrade`.
    static let upgradeRequired: HandshakeFault = {
        var fault = HandshakeFault(
            .upgradeRequired, "H128", "This path speaks WebSocket, version 13.")
        fault.fields.append(("Upgrade", "websocket"))
        fault.fields.append(("Sec-WebSocket-Version", "13"))
        return fault
    }()

    static let method: HandshakeFault = {
        var fault = HandshakeFault(.methodNotAllowed, "H128", "A WebSocket is opened with GET.")
        fault.fields.append(("Allow", "GET, HEAD"))
        return fault
    }()

    static let stopping: HandshakeFault = {
        var fault = HandshakeFault(.serviceUnavailable, "H147", "The server is stopping.")
        fault.fields.append(("Retry-After", "1"))
        fault.ending = .close
        return fault
    }()

    /// Octets of a body would be taken for frames.
    static let body: HandshakeFault = {
        var fault = HandshakeFault(.badRequest, "H131", "A handshake has no body.")
        fault.ending = .close
        return fault
    }()

    /// `101` alone would leave the client waiting for `100` (RFC 9110 §7.8).
    static let expectation: HandshakeFault = {
        var fault = HandshakeFault(.expectationFailed, "H77", "A handshake expects nothing.")
        fault.ending = .close
        return fault
    }()

    static let key = HandshakeFault(
        .badRequest, "H128", "Sec-WebSocket-Key is not base64 of 16 octets.")
    static let origin = HandshakeFault(
        .forbidden, "H129", "Pages of that origin may not open a WebSocket here.")
    static let subprotocol = HandshakeFault(
        .badRequest, "H130", "None of the subprotocols offered is spoken here.")
    static let subprotocolList = HandshakeFault(
        .badRequest, "H130", "Sec-WebSocket-Protocol is malformed.")
}
