import HTTP
import Messaging
import MessagingWire

/// The ways in which an endpoint may fail, by status.
///
/// Most follow from its line in the table: what the gate asks everybody, what reading a body may come
/// to, and whether the path names something that may not be there.
struct ErrorAnswers {
    /// Of each status what the error object may say, in the order of the error table.
    private(set) var byStatus: [Int: [APIErrorTable]] = [:]

    init(of endpoint: Endpoint, _ operation: Operation) {
        add([
            .authenticationRequired, .invalidAppID, .appSuspended, .invalidHeader,
            .rateLimited, .invalidRequest, .internalServerError, .serviceUnavailable,
            .invalidEndpoint,
            // An unknown query parameter with strict handling (ruling 21).
            .invalidProperty,
        ])
        // A path longer than names can be (H62).
        add(.invalidRequest, as: 414)
        if endpoint.scope > .read { add([.accessDenied]) }
        if endpoint.path.parameterNames.count > 1 { add([.notFound]) }
        if operation.fields.contains(where: \.isRequired) { add([.missingProperty]) }
        if operation.fields.contains(where: { $0.name == Parameter.ifMatch.name }) {
            add([.versionMismatch])
        }
        if endpoint.isKeyed { add([.invalidRequestID]) }
        if endpoint.isRepeatable {
            add([.invalidRequestID, .idempotencyKeyReuse, .requestInProgress])
        }
        switch endpoint.handler {
        case .body:
            add([.requestTimeout, .missingProperty])
            add(.invalidRequest, as: 413)
            add(.invalidHeader, as: 415)
        case .pulled:
            add([.requestTimeout])
            add(.invalidRequest, as: 413)
            add(.invalidHeader, as: 415)
        case .head, .recalled, .streamed: break
        }
        if endpoint.needsRoom { add(.serviceUnavailable, as: 507) }
        add(operation.errors)
    }

    private mutating func add(_ kinds: [APIErrorTable]) {
        for kind in kinds { add(kind, as: kind.row.status) }
    }

    private mutating func add(_ kind: APIErrorTable, as status: Int) {
        guard byStatus[status]?.contains(kind) != true else { return }
        byStatus[status, default: []].append(kind)
        byStatus[status]?.sort { $0.row.code < $1.row.code }
    }
}
