internal import Bytes
import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// Exports, the key they are encrypted with, and their schedule (platform-api §5.12).
    static let exports = [
        Endpoint(
            .put, "/apps/{app}/export_security",
            "Sets the public key that exports are encrypted with.",
            .jsonBody { context, body in try await context.setExportKey(body) }
        ) { _ in
            Operation(
                "setExportSecurity", body: ExportKeyJSON.schema,
                answers: [.ok(ExportKeyJSON.schema)],
                example: Example(body: "{\"public_key\":\"\(Sample.publicKey)\"}"))
        },
        Endpoint(
            .get, "/apps/{app}/export_security",
            "Reads the public key that exports are encrypted with.",
            .withoutBody { context in try await context.readExportKey() }
        ) { _ in
            Operation(
                "readExportSecurity", answers: [.ok(ExportKeyJSON.schema)], errors: [.notFound],
                example: Example(after: ["setExportSecurity"]))
        },
        Endpoint(
            .post, "/apps/{app}/exports", "Exports all conversations and messages.",
            .withoutBody { context in try await context.createExport() }
        ) { _ in
            Operation(
                "createExport", answers: [.accepted(ExportJSON.schema)],
                errors: [.invalidOperation], example: Example(after: ["setExportSecurity"]))
        },
        Endpoint(
            .get, "/apps/{app}/exports", "Lists exports, newest first.",
            .withoutBody { context in try await context.listExports() }
        ) { _ in
            Operation(
                "listExports", query: Parameter.page(of: .exports),
                answers: [.list(of: ExportJSON.schema)], errors: [.notFound],
                example: Example(query: [("page_size", "20")], after: ["createExport"]))
        },
        Endpoint(
            .get, "/apps/{app}/exports/{export}/status", "Reads the status of an export.",
            .withoutBody { context in try await context.readExport() }
        ) { _ in
            Operation(
                "readExport",
                answers: [.accepted(ExportJSON.schema), .ok(ExportJSON.schema, "Completed.")])
        },
        Endpoint(
            .delete, "/apps/{app}/exports/{export}", "Deletes an export and its archive.",
            .withoutBody { context in try await context.deleteExport() }
        ) { _ in
            Operation("deleteExport", answers: [.noContent])
        },
        Endpoint(
            .put, "/apps/{app}/export_schedule", "Enables or disables the daily export.",
            .jsonBody { context, body in try await context.setExportSchedule(body) }
        ) { _ in
            Operation(
                "setExportSchedule", body: ExportScheduleJSON.draftSchema,
                answers: [.ok(ExportScheduleJSON.schema)], errors: [.invalidOperation],
                example: Example(
                    body: #"{"interval":"daily","events":["message.sent","message.read"]}"#,
                    after: ["setExportSecurity"]))
        },
        Endpoint(
            .get, "/apps/{app}/export_schedule", "Reads the schedule of the daily export.",
            .withoutBody { context in try await context.readExportSchedule() }
        ) { _ in
            Operation("readExportSchedule", answers: [.ok(ExportScheduleJSON.schema)])
        },
    ]
}

extension Sample {
    /// A public key as a JSON string without quotes; its private key was discarded.
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

extension RequestContext {
    /// `POST /exports` (platform-api §5.12): at most one a day.
    func createExport() async throws -> Reply {
        Reply(.accepted, json(try await store.requestExport(in: application)))
    }

    /// An export as the system sees it.
    func json(_ export: Export) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        write(export, into: &writer)
        return writer.finish()
    }

    /// Writes an export; the URL of its archive is signed like that of a content.
    func write(_ export: Export, into writer: inout JSONWriter) {
        let presentation = presentation()
        ExportJSON.write(
            export, presentation.links, sign: { id in presentation.sign(Messaging.Content.ID(id)) },
            into: &writer)
    }
}

extension RequestContext {
    /// `GET /exports` (platform-api §5.12), in pages.
    func listExports() async throws -> Reply {
        let page = try PageQuery<Export>(query, .exports)
        let found = try await store.exports(
            after: page.after, limit: page.limit, isCounted: query.isCounted, in: application)
        var writer = JSONWriter(capacity: 4096)
        writer.array { writer in
            for export in found.items.prefix(page.size) { write(export, into: &writer) }
        }
        return try listing(writer.finish(), of: found, size: page.size) { export in
            export.id.uuid
        }
    }
}

extension RequestContext {
    /// `GET /exports/{id}/status` (platform-api §5.12): 202 until it is completed.
    func readExport() async throws -> Reply {
        let export = try await store.export(export(), in: application)
        return Reply(export.status == .completed ? .ok : .accepted, json(export))
    }

    /// The export in the path; a malformed UUID is not found (ruling 7).
    func export() throws(Rejection) -> Export.ID {
        guard let id = parameters["export"].flatMap({ Export.ID(uuid: $0) }) else {
            throw .notFound(.export)
        }
        return id
    }
}

extension RequestContext {
    /// `DELETE /exports/{id}` (platform-api §5.12).
    func deleteExport() async throws -> Reply {
        try await store.deleteExport(export(), in: application)
        return .noContent
    }
}

extension RequestContext {
    /// `PUT /export_schedule` (platform-api §5.12).
    func setExportSchedule(_ body: JSONValue) async throws -> Reply {
        let draft = try ExportScheduleJSON.read(body.asObject())
        let schedule = try await store.setExportSchedule(
            draft.interval, draft.topics, in: application)
        return Reply(.ok, json(schedule))
    }

    /// `GET /export_schedule` (platform-api §5.12); `disabled` until it is set.
    func readExportSchedule() async throws -> Reply {
        Reply(.ok, json(try await store.exportSchedule(in: application)))
    }

    private func json(_ schedule: ExportSchedule) -> [UInt8] {
        var writer = JSONWriter()
        ExportScheduleJSON.write(schedule, into: &writer)
        return writer.finish()
    }
}

extension RequestContext {
    /// `PUT /export_security` (platform-api §5.12): an RSA key of at least 2048 bits.
    func setExportKey(_ body: JSONValue) async throws -> Reply {
        let pem = try ExportKeyJSON.read(body.asObject())
        guard let key = PublicKey(pem: pem), key.canEncrypt else {
            throw Rejection.invalid("public_key", .rsaKey)
        }
        let exportKey = ExportKey(pem: pem, der: key.der)
        try await store.setExportKey(exportKey, in: application)
        return Reply(.ok, json(exportKey))
    }

    /// `GET /export_security` (platform-api §5.12).
    func readExportKey() async throws -> Reply {
        Reply(.ok, json(try await store.exportKey(in: application)))
    }

    private func json(_ key: ExportKey) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        ExportKeyJSON.write(key, into: &writer)
        return writer.finish()
    }
}
