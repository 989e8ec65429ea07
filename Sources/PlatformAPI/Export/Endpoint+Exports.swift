import HTTP
import JSON
import MessagingWire

extension Endpoint {
    /// Exports, what they are sealed for, and how often they come (platform-api §5.12).
    static let exports = [
        Endpoint(
            .put, "/apps/{app}/export_security", "Sets the key that exports are sealed for.",
            .body { call, body in try await call.setExportKey(body) }
        ) { _ in
            Operation(
                "setExportSecurity", body: ExportKeyJSON.schema,
                answers: [.ok(ExportKeyJSON.schema)],
                example: Example(body: "{\"public_key\":\"\(Sample.publicKey)\"}"))
        },
        Endpoint(
            .get, "/apps/{app}/export_security", "Shows the key that exports are sealed for.",
            .head { call in try await call.readExportKey() }
        ) { _ in
            Operation(
                "readExportSecurity", answers: [.ok(ExportKeyJSON.schema)], errors: [.notFound],
                example: Example(after: ["setExportSecurity"]))
        },
        Endpoint(
            .post, "/apps/{app}/exports", "Exports all conversations and messages.",
            .head { call in try await call.createExport() }
        ) { _ in
            Operation(
                "createExport", answers: [.accepted(ExportJSON.schema)],
                errors: [.invalidOperation], example: Example(after: ["setExportSecurity"]))
        },
        Endpoint(
            .get, "/apps/{app}/exports", "Lists exports, newest first.",
            .head { call in try await call.listExports() }
        ) { _ in
            Operation(
                "listExports", query: Parameter.page(of: .exports),
                answers: [.list(of: ExportJSON.schema)], errors: [.notFound],
                example: Example(query: [("page_size", "20")], after: ["createExport"]))
        },
        Endpoint(
            .get, "/apps/{app}/exports/{export}/status", "Says how far an export is.",
            .head { call in try await call.readExport() }
        ) { _ in
            Operation(
                "readExport",
                answers: [.accepted(ExportJSON.schema), .ok(ExportJSON.schema, "Completed.")])
        },
        Endpoint(
            .delete, "/apps/{app}/exports/{export}", "Deletes an export and its archive.",
            .head { call in try await call.deleteExport() }
        ) { _ in
            Operation("deleteExport", answers: [.noContent])
        },
        Endpoint(
            .put, "/apps/{app}/export_schedule", "Has what happened exported daily, or no more.",
            .body { call, body in try await call.setExportSchedule(body) }
        ) { _ in
            Operation(
                "setExportSchedule", body: ExportScheduleJSON.draftSchema,
                answers: [.ok(ExportScheduleJSON.schema)], errors: [.invalidOperation],
                example: Example(
                    body: #"{"interval":"daily","events":["message.sent","message.read"]}"#,
                    after: ["setExportSecurity"]))
        },
        Endpoint(
            .get, "/apps/{app}/export_schedule", "Says what is exported daily.",
            .head { call in try await call.readExportSchedule() }
        ) { _ in
            Operation("readExportSchedule", answers: [.ok(ExportScheduleJSON.schema)])
        },
    ]
}

extension Sample {
    /// A public key as JSON has it between quotes; nobody keeps its private half.
    fileprivate static let publicKey = [
        "-----BEGIN PUBLIC KEY-----",
        "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAtMq5DqI/3bEQGZkj3bQo",
        "UN8Xd6spqJriyRlkNa50HNlU8mChGK7TK5mUifvGiyDyW7I15kJVfNXvOrRWnXEZ",
        "WMHOePe2kSyUFxEtdO/c2rLPTG4yEb7K5UcklDE6iprXY6KqExaFGBMeQ6T/6mVM",
        "ashZrbp76ztL47jUng8u7gYZMbxoVJNoHSw9leE6O5Y3KzD5tn8xDKfAo4fRE3WB",
        "waxFQhT/mijcHZKQVCVeKq0bU9Sf3bMnrfnT9Ny0TjEc93CMIFTHOWw7RsLjdacg",
        "oflLATlBLbt0cjXZTSH/iWOjgygvFihZ2l9aH7203fC7hCwq509TECnVuBeYpIyP",
        "nQIDAQAB",
        "-----END PUBLIC KEY-----",
    ].map { line in line + #"\n"# }.joined()
}
