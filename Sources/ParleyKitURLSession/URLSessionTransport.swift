internal import Foundation
internal import HTTP
internal import ParleyKit
internal import SystemSupport

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends requests with `URLSession` (K3).
///
/// It uses only what FoundationNetworking has too: tasks with a delegate, without WebSockets, async sequences of bytes,
/// or tasks of downloads.
final class URLSessionTransport: Transport {
    private let server: URL
    private let session: URLSession
    private let delegate = SessionDelegate()
    /// Makes the files of uploads.
    private let queue = WorkQueue("parley.kit.urlsession")

    /// - Parameter transfers: How many contents may be transferred at once, beside other requests.
    init(server: URL, transfers: Int, _ settings: URLSessionConfiguration) {
        self.server = server
        settings.urlCache = nil
        settings.requestCachePolicy = .reloadIgnoringLocalCacheData
        settings.httpCookieStorage = nil
        settings.httpShouldSetCookies = false
        settings.httpMaximumConnectionsPerHost = 16 + transfers
        session = URLSession(configuration: settings, delegate: delegate, delegateQueue: nil)
    }

    deinit { session.invalidateAndCancel() }

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        let stream = try await open(request)
        var body: [UInt8] = []
        while let bytes = try await stream.next() {
            guard body.count + bytes.count <= TransportRequest.bodyLimit else {
                stream.cancel()
                throw ParleyError(
                    .server, "The server's answer is too large.", isTransient: true)
            }
            body += bytes
        }
        return TransportResponse(status: stream.status, headers: stream.headers, body: body)
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        try await exchange(request).stream()
    }

    /// Sends a request.
    func exchange(_ request: TransportRequest) async throws(ParleyError) -> Exchange {
        let sent = try urlRequest(request)
        let exchange: Exchange
        if let stored = request.stored {
            let file = try await RequestBodyFile(stored, queue)
            exchange = Exchange(
                session.uploadTask(sent, of: file.path), file, onSent: stored.onSent)
        } else {
            exchange = Exchange(session.dataTask(with: sent), nil, onSent: nil)
        }
        delegate.add(exchange)
        exchange.start(isStream: request.isStream)
        return exchange
    }

    private func urlRequest(_ request: TransportRequest) throws(ParleyError) -> URLRequest {
        guard let url = URL(string: request.url(below: server)), url.host() != nil,
            url.scheme == "http" || url.scheme == "https"
        else {
            throw ParleyError(.network, "The server's URL is invalid.")
        }
        var sent = URLRequest(url: url)
        sent.httpMethod = request.method.rawValue
        sent.timeoutInterval = TimeInterval(TransportRequest.stallSeconds)
        for (name, value) in request.headers { sent.addValue(value, forHTTPHeaderField: name) }
        // A compressed stream would have another length and digest, and arrive in blocks.
        if request.isStream { sent.setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
        if request.stored == nil, let body = request.body { sent.httpBody = Data(body) }
        return sent
    }
}

extension URLSession {
    /// A task that sends a file.
    ///
    /// On Linux the request has a stream as its body and is chunked. An upload task of a file ends the whole process there
    /// when it is cancelled while FoundationNetworking reads the file.
    fileprivate func uploadTask(_ request: URLRequest, of path: String) -> URLSessionDataTask {
        #if canImport(FoundationNetworking)
            var request = request
            request.httpBodyStream = InputStream(fileAtPath: path)
            return dataTask(with: request)
        #else
            return uploadTask(with: request, fromFile: URL(filePath: path))
        #endif
    }
}

/// The file from which a body is sent; it ends with this object, if it was made for it.
final class RequestBodyFile: Sendable {
    let path: String
    private let isTemporary: Bool

    /// Writes the bytes of a body into a file, unless there is one that has exactly these.
    init(_ body: TransportRequest.StoredBody, _ queue: WorkQueue) async throws(ParleyError) {
        if let file = body.file {
            (path, isTemporary) = (file, false)
            return
        }
        isTemporary = true
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "parley-upload-\(UUID().uuidString)").path
        let failure = await queue.run { [path] () -> (any Error)? in
            do {
                try Self.write(body, to: path)
                return nil
            } catch {
                return error
            }
        }
        if let failure {
            throw ParleyError(
                .storeUnavailable, "The file of an upload cannot be written: \(failure).",
                isTransient: true)
        }
    }

    deinit {
        // One that cannot be deleted is left to the system, which cleans this folder.
        if isTemporary { try? FileManager.default.removeItem(atPath: path) }
    }

    private static func write(_ body: TransportRequest.StoredBody, to path: String) throws {
        _ = FileManager.default.createFile(
            atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? handle.close() }
        var position: Int64 = 0
        while position < body.count {
            let count = Int(min(256 << 10, body.count - position))
            let bytes = try body.read(count, position)
            guard !bytes.isEmpty else {
                throw ParleyError(.contentMissing, "The file of the part has become shorter.")
            }
            try handle.write(contentsOf: Data(bytes))
            position += Int64(bytes.count)
        }
    }
}
