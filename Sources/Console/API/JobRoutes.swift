import Blobs
import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import PlatformAPI
import Uploads

extension ConsoleRoute {
    /// Exports, imports and backups that run in the background.
    static let jobs = [
        ConsoleRoute(.get, "/console/api/jobs", .all(.admin)) { request in
            try await request.listJobs()
        },
        ConsoleRoute(
            .post, "/console/api/jobs", .all(.admin), parameters: ["kind", "app"],
            isStreamed: true, repetition: .replayedOutsideTransaction
        ) { request in try await request.startJob() },
        ConsoleRoute(.get, "/console/api/jobs/{job}", .all(.admin)) { request in
            try await request.readJob()
        },
        ConsoleRoute(
            .post, "/console/api/jobs/{job}", .all(.admin),
            repetition: .replayedOutsideTransaction
        ) { request in try await request.runJobAgain() },
        ConsoleRoute(.get, "/console/api/jobs/{job}/file", .all(.admin)) { request in
            try await request.readJobFile()
        },
        ConsoleRoute(.delete, "/console/api/jobs/{job}", .all(.admin)) { request in
            try await request.deleteJob()
        },
    ]
}

extension ConsoleRequest {
    /// The only application whose jobs the account sees; `nil` for an operator.
    private var onlyApplication: Application.ID? { principal?.token?.application.id }

    private var jobOrigin: JobRunner.Origin {
        JobRunner.Origin(audit: origin, actor: actor, request: request.id)
    }

    /// `GET jobs`: the latest hundred, newest first.
    fileprivate func listJobs() async throws -> Response {
        let jobs = try await store.jobs(of: onlyApplication)
        var sizes: [Int64?] = []
        for job in jobs { sizes.append(await api.jobs.fileSize(of: job)) }
        return Response.console { [sizes] writer in
            writer.array { writer in
                for (job, size) in zip(jobs, sizes) { writer.write(job, fileSize: size) }
            }
        }
    }

    /// `POST jobs`: the body is the file of an import, which is stored when the answer is sent.
    fileprivate func startJob() async throws -> Response {
        guard let name = parameter("kind") else { throw Rejection.missing("kind") }
        let kind: ConsoleJob.Kind = try choice(name, named: "kind")
        let application: Application.ID? = try id("app", of: "an application")
        if kind == .backup, onlyApplication != nil {
            throw APIError(
                .accessDenied,
                "A token of an application cannot make a backup; log in as an operator."
            )
        }
        if let onlyApplication, let application, application != onlyApplication {
            throw APIError(.invalidAppID, "The token does not belong to this application.")
        }
        guard kind == .import || !request.framing.announcesContent else {
            throw APIError(.invalidRequest, "Only an import has a body.")
        }
        if kind == .export { try requireShownContent() }
        try await store.checkIdempotencyKey()
        if let application, try await store.application(application) == nil {
            throw Rejection.notFound(.application)
        }
        return created(try await api.jobs.start(kind, of: application, stream, from: jobOrigin))
    }

    /// `POST jobs/{job}`: runs a job again that has failed or was interrupted.
    fileprivate func runJobAgain() async throws -> Response {
        try await store.checkIdempotencyKey()
        return created(
            try await api.jobs.runAgain(try jobID(), of: onlyApplication, from: jobOrigin))
    }

    /// `GET jobs/{job}`.
    fileprivate func readJob() async throws -> Response {
        let job = try await api.jobs.job(try jobID(), of: onlyApplication)
        let size = await api.jobs.fileSize(of: job)
        return Response.console { writer in writer.write(job, fileSize: size) }
    }

    /// `GET jobs/{job}/file`: what an export has written.
    fileprivate func readJobFile() async throws -> Response {
        try requireShownContent()
        let job = try await api.jobs.job(try jobID(), of: onlyApplication)
        let file = try await api.jobs.file(of: job)
        var response = Response(
            .ok, content: .file(BlobContent(file), offset: 0, length: file.size))
        response.fields.add("Content-Type", "application/jsonl")
        response.fields.add(
            "Content-Disposition",
            "attachment; filename=\"\(job.application?.uuid ?? job.id.uuid).jsonl\"")
        response.fields.add("Cache-Control", "no-store")
        return response
    }

    /// `DELETE jobs/{job}`: stops it if it runs.
    fileprivate func deleteJob() async throws -> Response {
        try await api.jobs.delete(try jobID(), of: onlyApplication, from: jobOrigin)
        return .consoleNoContent
    }

    private func jobID() throws -> ConsoleJob.ID {
        guard let id = parameters["job"].flatMap({ ConsoleJob.ID(uuid: $0) }) else {
            throw JobRunner.unknown
        }
        return id
    }

    private func requireShownContent() throws {
        guard api.settings.showsContent else {
            throw APIError(
                .accessDenied,
                "The setting `console.show_content` is false, and this operation returns contents.")
        }
    }

    private func created(_ job: ConsoleJob) -> Response {
        var response = Response.console(.created) { writer in writer.write(job, fileSize: nil) }
        response.fields.add("Location", "\(ConsoleAPI.root)/jobs/\(job.id)")
        return response
    }
}

extension JSONWriter {
    /// - Parameter size: The size of its file in this data folder; `nil` for none.
    mutating func write(_ job: ConsoleJob, fileSize size: Int64?) {
        object { writer in
            writer.member("id", job.id.uuid)
            writer.member("kind", job.kind.rawValue)
            writer.member("app", job.application?.uuid)
            writer.member("state", job.state.rawValue)
            writer.member("actor", job.actor)
            writer.member("process", job.process)
            writer.member("done", job.done)
            writer.key("total")
            if let total = job.total { writer.integer(total) } else { writer.null() }
            writer.member("unit", "bytes")
            writer.member("started_at", job.startedAt)
            writer.member("ended_at", job.endedAt)
            writer.member("error", job.error)
            writer.key("result")
            if let result = job.result { writer.raw(Array(result.utf8)) } else { writer.null() }
            writer.key("file_bytes")
            if let size { writer.integer(size) } else { writer.null() }
        }
    }
}
