/// What the model says that an answer is.
struct ModelExpectation {
    var status: Int
    /// The `id` of an error.
    var error: String?
    /// The `data.property` of an error.
    var property: String?
    /// The content, or `data` of an error; `nil` when it is empty or of no interest.
    var body: ModelValue?
    /// `Layer-Count`.
    var count: Int?
    /// The version that `ETag` names.
    var version: Int64?

    static func ok(_ body: ModelValue, count: Int? = nil) -> ModelExpectation {
        ModelExpectation(status: 200, body: body, count: count)
    }

    static func empty(_ status: Int) -> ModelExpectation { ModelExpectation(status: status) }

    static func refused(
        _ status: Int, _ error: String, _ property: String? = nil, data: ModelValue? = nil
    ) -> ModelExpectation {
        ModelExpectation(status: status, error: error, property: property, body: data)
    }

    static let notFound = refused(404, "not_found")
    static let denied = refused(403, "access_denied")
    static let gone = refused(410, "object_deleted")

    /// The numbers of platform-api §2.2.
    private static let codes: [String: Int64] = [
        "invalid_request_id": 3, "invalid_operation": 9, "invalid_request": 10,
        "access_denied": 101, "not_found": 102, "object_deleted": 103, "missing_property": 104,
        "invalid_property": 105, "conflict": 108, "method_not_allowed": 109,
        "participant_blocked": 110, "id_in_use": 111, "version_mismatch": 115,
    ]

    /// The first difference of an answer; `nil` when there is none.
    func difference(from answer: PlainAnswer, _ value: ModelValue?) -> String? {
        if answer.status != status {
            return "status: expected \(status)\(error.map { " \($0)" } ?? ""), answered"
                + " \(answer.status) \(value?["id"]?.text ?? "")"
        }
        if let count, answer["Layer-Count"] != "\(count)" {
            return "Layer-Count: expected \(count), answered \(answer["Layer-Count"] ?? "none")"
        }
        if let version, answer["ETag"] != "\"v\(version)\"" {
            return "ETag: expected \"v\(version)\", answered \(answer["ETag"] ?? "none")"
        }
        if let error {
            let head: [String: ModelValue] = [
                "id": .text(error), "code": .number(Self.codes[error] ?? 0), "message": .any,
                "url": .any,
            ]
            guard let value else { return "the error has no JSON: \(answer.body)" }
            if let difference = ModelValue.object(head).difference(from: value) {
                return difference
            }
            if let property, value["data"]?["property"] != .text(property) {
                return "data.property: expected \(property), answered \(value)"
            }
            return body.flatMap { $0.difference(from: value["data"] ?? .null, at: "data") }
        }
        guard let body else {
            return status == 204 && !answer.body.isEmpty ? "a body: \(answer.body)" : nil
        }
        guard let value else { return "the answer is no JSON: \(answer.body)" }
        return body.difference(from: value)
    }
}
