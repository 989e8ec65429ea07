internal import HTTP
internal import HTTPClient

/// A request to the store, before it is signed.
struct StoreRequest: Sendable {
    /// As §10.3 calls it.
    let operation: String
    let method: Method
    /// The whole key; `nil` for the bucket itself.
    let key: String?
    var query: [(name: String, value: String)] = []
    var fields: [(name: String, value: String)] = []
    var body: ClientBody = .none
    var payload: PayloadDigest = .empty
    /// Whether its answer is read at the pace of somebody who may be slow.
    var isDownload = false
    /// How long nothing may move: as long as the store works without a word.
    var stallsFor: Duration = .seconds(30)
    /// Told how many octets of the body went out.
    var onSent: (@Sendable (Int64) -> Void)?

    /// For what a store does with gigabytes before it answers, and not every store sends white space.
    static let longWork: Duration = .seconds(300)

    init(_ operation: String, _ method: Method, _ key: String?) {
        self.operation = operation
        self.method = method
        self.key = key
    }
}

extension ObjectStore {
    /// The request as it is sent at this moment.
    func signed(_ request: StoreRequest) -> ClientRequest {
        let path = address.path(of: request.key)
        let query = CanonicalRequest.query(request.query)
        let fields = signer.fields(
            signing: request.method, host: address.host, path: path, query: query,
            fields: request.fields, payload: request.payload, at: SigningTime(now()))
        var sent = ClientRequest(
            request.method, address.url(path: path, query: query), fields: fields,
            body: request.body)
        sent.stallsFor = request.stallsFor
        sent.onSent = request.onSent
        return sent
    }
}
