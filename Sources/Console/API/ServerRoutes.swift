import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import PlatformAPI
import Uploads

extension ConsoleRoute {
    /// The server and its processes.
    static let server = [
        ConsoleRoute(.get, "/console/api/settings", .operators(.admin)) { request in
            try await request.listSettings()
        },
        ConsoleRoute(
            .get, "/console/api/stats", .operators(.read), parameters: ["range"]
        ) { request in try request.readStatistics() },
        ConsoleRoute(.get, "/console/api/stream", .operators(.read)) { request in
            try await request.streamStatistics()
        },
        ConsoleRoute(.get, "/console/api/processes", .operators(.read)) { request in
            try await request.listProcesses()
        },
        ConsoleRoute(
            .get, "/console/api/storage", .operators(.read), parameters: ["app", "after", "limit"]
        ) { request in try await request.readStorage() },
        ConsoleRoute(
            .get, "/console/api/uploads", .operators(.read),
            parameters: ["app", "state", "after", "limit"], isScan: true
        ) { request in try await request.listUploads() },
        ConsoleRoute(.delete, "/console/api/uploads/{upload}", .operators(.admin)) { request in
            try await request.cancelUpload()
        },
    ]
}

extension ConsoleRequest {
    /// `GET settings`: never a secret.
    fileprivate func listSettings() async throws -> Response {
        try await api.store.recordAuditEvent(.settingsViewed, from: origin)
        let settings = api.server.settings()
        return Response.console { writer in
            writer.array { writer in
                for setting in settings {
                    writer.object { writer in
                        writer.member("name", setting.name)
                        writer.member("value", setting.isSecret ? nil : setting.value)
                        writer.member("default", setting.isSecret ? nil : setting.defaultValue)
                        if setting.isSecret { writer.member("set", !setting.value.isEmpty) }
                        writer.member("source", setting.source)
                        writer.member("from", setting.place)
                        writer.member("restart", setting.needsRestart)
                        writer.member("pending", setting.isSecret ? nil : setting.pending)
                    }
                }
            }
        }
    }

    /// `GET processes`: the answering process first, the others by their last report.
    fileprivate func listProcesses() async throws -> Response {
        let stored = api.store.isShared ? try await api.store.processes() : []
        let leases = stored.first { process in process.id == api.store.process }?.leases ?? []
        let own = ProcessReporter.report(of: api.server, api.store, leases, at: api.clock())
        let others = stored.filter { process in process.id != own.id }
        return Response.console { writer in
            writer.array { writer in for process in [own] + others { writer.write(process) } }
        }
    }

    /// `GET storage`: the space of the data folder, and of each application by id.
    fileprivate func readStorage() async throws -> Response {
        let limit = Int(try count("limit", from: 1, upTo: 100) ?? 50)
        let after: Application.ID? = try id("after", of: "an application")
        let uploads = api.platform.uploads
        let space = try await uploads.storageSpace()
        let statistics = uploads.statistics
        let contents = try await api.store.contentBytesOfAllApplications()
        let only: Application.ID? = try id("app", of: "an application")
        let found = try await api.store.applicationCounts(after: after, only: only, limit: limit)
        var reserved: [Int64] = []
        for counts in found {
            reserved.append(
                try await uploads.reservedBytes(of: counts.application.id.uuid))
        }
        return Response.console { [reserved] writer in
            writer.object { writer in
                writer.key("volume")
                writer.object { writer in
                    writer.member("total", space.total)
                    writer.member("free", space.available)
                }
                writer.member("headroom", space.headroom)
                writer.member("contents", contents)
                writer.member("reserved", space.reserved)
                writer.key("quota")
                if let quota = uploads.applicationQuota {
                    writer.integer(quota)
                } else {
                    writer.null()
                }
                writer.key("applications")
                writer.array { writer in
                    for (counts, reserved) in zip(found, reserved) {
                        writer.object { writer in
                            writer.member("id", counts.application.id.uuid)
                            writer.member("name", counts.application.name)
                            writer.member("content_bytes", counts.contentBytes)
                            writer.member("reserved", reserved)
                        }
                    }
                }
                writer.key("sweep")
                if let sweep = statistics.lastSweep {
                    writer.object { writer in
                        writer.member("orphans", sweep.contents)
                        writer.member("bytes", sweep.bytes)
                        writer.member("at", Timestamp(milliseconds: sweep.endedAt))
                    }
                } else {
                    writer.null()
                }
                writer.key("traffic")
                writer.array { writer in
                    for uploadProtocol in UploadProtocol.allCases {
                        guard let traffic = statistics.traffic[uploadProtocol] else { continue }
                        writer.object { writer in
                            writer.member("protocol", uploadProtocol.rawValue)
                            writer.member(
                                "requests", traffic.requests.values.reduce(0, +))
                            writer.member("received", traffic.received)
                            writer.member("committed", traffic.committed)
                            writer.member("resumes", traffic.resumes)
                            writer.member("takeovers", traffic.takeovers)
                        }
                    }
                }
            }
        }
    }

    /// `GET uploads`: by descending id, without `state` the open ones.
    fileprivate func listUploads() async throws -> Response {
        var query = UploadQuery(limit: Int(try count("limit", from: 1, upTo: 100) ?? 50))
        let after: Messaging.Content.ID? = try id("after", of: "a content")
        query.after = after?.uuid
        let application: Application.ID? = try id("app", of: "an application")
        query.application = application?.uuid
        if let name = parameter("state") { query.state = try choice(name, named: "state") }
        let page = try await api.platform.listUploads(query)
        var response = Response.console { writer in
            writer.array { writer in for upload in page.uploads { writer.write(upload) } }
        }
        if let last = page.searchedTo {
            response.fields.add("Parley-Scan", "partial; next=\(last)")
        }
        return response
    }

    /// `DELETE uploads/{upload}`: the id is that of the content.
    fileprivate func cancelUpload() async throws -> Response {
        let id = parameters["upload"] ?? ""
        guard let application = try await api.platform.cancelUpload(of: id) else {
            throw Rejection.notFound(.content)
        }
        try await api.store.recordAuditEvent(
            .uploadCancelled, subject: id, in: application, from: origin)
        return .consoleNoContent
    }

    /// `GET stats`: the ring of an hour or a day.
    fileprivate func readStatistics() throws -> Response {
        let range: StatisticsRing.Range
        switch parameter("range") {
        case nil, "hour": range = .hour
        case "day": range = .day
        default:
            throw APIError(
                .invalidProperty, "`range` must be `hour` or `day`.", data: .property("range"))
        }
        let ring = api.server.statistics.ring(range)
        return Response.console { writer in
            writer.object { writer in
                writer.member(
                    "from",
                    ring.samples.isEmpty ? api.clock() : Timestamp(milliseconds: ring.start))
                writer.member("step_s", range.step / 1000)
                writer.key("series")
                writer.object { writer in
                    for series in StatisticsSeries.allCases {
                        writer.key(series.rawValue)
                        writer.array { writer in
                            for values in ring.samples { writer.write(values?[series]) }
                        }
                    }
                }
            }
        }
    }

    /// `GET stream`: a sample each second, while the session lasts.
    fileprivate func streamStatistics() async throws -> Response {
        guard let session = principal?.session else {
            throw APIError(.accessDenied, "A stream needs a session.")
        }
        let feed = StatisticsStream(
            api.server.statistics, process: api.store.process, at: api.clock())
        let stream = EventStream(feed)
        guard api.streams.add(stream, of: session.id) else { throw ConsoleStreams.full }
        stream.expire(
            in: max(0, session.expiresAt.milliseconds - api.clock().milliseconds))
        return stream.response
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ process: ServerProcess) {
        object { writer in
            writer.member("id", process.id)
            writer.member("version", process.version)
            writer.member("started_at", process.startedAt)
            writer.member("last_seen_at", process.lastSeenAt)
            writer.key("leases")
            writer.array { writer in for name in process.leases { writer.string(name) } }
            writer.member("stats", raw: Array(process.statistics.utf8))
        }
    }

    fileprivate mutating func write(_ upload: ListedUpload) {
        object { writer in
            writer.member("id", upload.content)
            writer.member("app", upload.owner.application)
            writer.member("conversation", upload.owner.conversation)
            writer.member("owner", upload.owner.user)
            writer.member("protocol", upload.creation.rawValue)
            writer.member("state", upload.state)
            writer.member("failure", upload.failure)
            writer.key("size")
            if let length = upload.length { writer.integer(length) } else { writer.null() }
            writer.member("offset", upload.received)
            writer.key("rate")
            writer.write(upload.rate)
            writer.member("progress_at", Timestamp(milliseconds: upload.lastProgressAt))
            writer.member("expires_at", Timestamp(milliseconds: upload.expiresAt))
        }
    }

    /// Writes a number with at most six decimals, or `null`.
    mutating func write(_ number: Double?) {
        guard let number, number.isFinite else { return null() }
        let rounded = (number * 1_000_000).rounded() / 1_000_000
        guard rounded == rounded.rounded(), abs(rounded) < 1e15 else { return double(rounded) }
        integer(Int64(rounded))
    }
}
