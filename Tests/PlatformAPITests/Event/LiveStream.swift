import Dispatch
import Glibc
import JSON
import TestSupport

/// A client of an event stream over a socket.
final class LiveStream: @unchecked Sendable {
    // Sendable because one call at a time runs, on `queue`.

    struct Event: Sendable {
        let id: Int64?
        /// The id as sent; empty without one.
        let cursor: String
        let type: String
        let data: String
    }

    private let queue = DispatchQueue(label: "live stream")
    private let connection: ClientConnection
    private var bytes: [UInt8] = []
    private var text: [UInt8] = []
    private(set) var head = ""
    /// The value that a browser would send in `Last-Event-ID`.
    private var lastEventID: Int64?
    private var isOver = false
    /// When a test that still waits fails: heartbeats end no wait of the socket.
    private var deadline = ContinuousClock.now

    /// Opens a stream of the events of a sample application.
    convenience init(
        _ sample: SampleApplication, _ query: String = "", token: String = "{token}",
        lastEventID: Int64? = nil, receiveBuffer: Int32? = nil
    ) throws {
        try self.init(
            sample, target: "/apps/{app}/events\(query)",
            fields: "Authorization: Bearer \(token)\r\n",
            lastEventID: lastEventID.map { String($0) }, receiveBuffer: receiveBuffer)
    }

    /// Opens any stream.
    convenience init(
        _ sample: SampleApplication, target: String, fields: String = "",
        lastEventID: String? = nil, receiveBuffer: Int32? = nil
    ) throws {
        let resuming = lastEventID.map { id in "Last-Event-ID: \(id)\r\n" } ?? ""
        let request = try """
        GET \(target) HTTP/1.1\r
        Host: 127.0.0.1\r
        \(fields)Accept: text/event-stream\r
        \(resuming)\r

        """.filled(with: sample.variables)
        try self.init(port: sample.server.port, request, receiveBuffer: receiveBuffer)
    }

    /// Opens a stream with the text of a request.
    init(port: UInt16, _ request: String, receiveBuffer: Int32? = nil) throws {
        connection = try ClientConnection(port: port, receiveBuffer: receiveBuffer)
        try connection.send(Array(request.utf8))
    }

    /// Waits for the head of the answer.
    func opened() async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                self.deadline = .now + .seconds(180)
                continuation.resume(
                    with: Result { while self.head.isEmpty, !self.isOver { try self.receive() } })
            }
        }
    }

    /// Reads `count` events, or fewer when the stream ends.
    func next(_ count: Int) async throws -> [Event] {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                self.deadline = .now + .seconds(180)
                continuation.resume(with: Result { try self.read(count) })
            }
        }
    }

    /// Reads events up to a position.
    func events(through position: Int64) async throws -> [Event] {
        var found: [Event] = []
        while (found.last?.id ?? 0) < position {
            let more = try await next(1)
            guard !more.isEmpty else { break }
            found += more
        }
        return found
    }

    /// Waits until a reconnecting client would resume at a position or later.
    ///
    /// - Returns: False when the stream ends before.
    func resumes(at position: Int64) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                self.deadline = .now + .seconds(180)
                continuation.resume(with: Result { try self.reach(position) })
            }
        }
    }

    private func reach(_ position: Int64) throws -> Bool {
        while lastEventID ?? -1 < position {
            guard takeEvent() == nil else { continue }
            guard !isOver else { return false }
            try receive()
        }
        return true
    }

    private func read(_ count: Int) throws -> [Event] {
        var found: [Event] = []
        while found.count < count {
            if let event = takeEvent() {
                if !event.data.isEmpty { found.append(event) }
            } else if isOver {
                break
            } else {
                try receive()
            }
        }
        return found
    }

    private func receive() throws {
        guard ContinuousClock.now < deadline else {
            throw SocketError(call: "waiting for events", code: ETIMEDOUT)
        }
        let more = try connection.receive()
        if more.isEmpty { isOver = true }
        bytes += more
        if head.isEmpty {
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
            head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            bytes.removeFirst(end.upperBound)
        }
        try takeChunks()
    }

    private func takeChunks() throws {
        var start = 0
        while let line = bytes[start...].firstRange(of: [13, 10]) {
            let digits = String(decoding: bytes[start..<line.lowerBound], as: UTF8.self)
            guard let size = Int(digits, radix: 16) else {
                throw SocketError(call: "chunk \(digits)", code: 0)
            }
            guard bytes.count >= line.upperBound + size + 2 else { break }
            text += bytes[line.upperBound..<(line.upperBound + size)]
            if size == 0 { isOver = true }
            start = line.upperBound + size + 2
        }
        bytes.removeFirst(start)
    }

    /// Comments and `retry` are returned as events without data.
    private func takeEvent() -> Event? {
        guard let end = text.firstRange(of: [10, 10]) else { return nil }
        let lines = String(decoding: text[..<end.lowerBound], as: UTF8.self).split(separator: "\n")
        text.removeFirst(end.upperBound)
        func field(_ name: String) -> String? {
            lines.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
        }
        let id = field("id").flatMap { Int64($0) }
        if let id { lastEventID = id }
        return Event(
            id: id, cursor: field("id") ?? "", type: field("event") ?? "",
            data: field("data") ?? "")
    }
}
