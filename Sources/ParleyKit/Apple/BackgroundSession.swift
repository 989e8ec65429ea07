#if canImport(Darwin)
    internal import Foundation
    internal import HTTP
    internal import SystemSupport

    /// Uploads by a background session of the system (K41). On Apple platforms only.
    ///
    /// The system sends files while the application is suspended, and after it has ended. When an application with the same
    /// identifier runs again, the session reports the tasks that are left, by their descriptions. A server that speaks the
    /// resumable uploads of the IETF lets the system itself go on after a break.
    final class BackgroundSession: BackgroundUploader {
        private let session: URLSession
        private let delegate: Delegate
        private let server: URL
        private let folder: String

        /// - Parameters:
        ///   - identifier: That of the configuration; the system allows one session with it in a process.
        ///   - folder: Where the rest of a file lies while it is sent; the temporary folder may be emptied meanwhile.
        init(identifier: String, server: URL, folder: String) {
            let settings = URLSessionConfiguration.background(withIdentifier: identifier)
            settings.sessionSendsLaunchEvents = true
            settings.isDiscretionary = false
            settings.urlCache = nil
            settings.httpCookieStorage = nil
            settings.httpShouldSetCookies = false
            delegate = Delegate()
            session = URLSession(configuration: settings, delegate: delegate, delegateQueue: nil)
            self.server = server
            self.folder = folder
            session.getAllTasks { [delegate] tasks in delegate.adopt(tasks) }
        }

        /// Ends the session in this process. The system goes on with its tasks.
        deinit { session.finishTasksAndInvalidate() }

        func put(
            _ request: TransportRequest, of part: MessagePart.ID
        ) async throws(ParleyError) -> TransportResponse {
            await delegate.waitUntilAdopted()
            return try await delegate.requests.answer(of: part) { () throws(ParleyError) in
                let (sent, stored) = try urlRequest(request)
                let (file, isTemporary) = try bodyFile(stored)
                let task = session.uploadTask(with: sent, fromFile: file)
                task.taskDescription = BackgroundTaskName(part).text
                delegate.add(
                    task, onSent: stored.onSent, temporary: isTemporary ? file : nil)
                task.resume()
            }
        }

        func settle(_ part: MessagePart.ID) async throws(ParleyError) {
            await delegate.waitUntilAdopted()
            try await delegate.requests.settle(part)
        }

        func cancel(_ part: MessagePart.ID) {
            session.getAllTasks { tasks in
                for task in tasks where BackgroundTaskName(task.taskDescription)?.part == part {
                    task.cancel()
                }
            }
        }

        private func urlRequest(
            _ request: TransportRequest
        ) throws(ParleyError) -> (URLRequest, TransportRequest.StoredBody) {
            guard let url = URL(string: request.url(below: server)), let stored = request.stored
            else {
                throw ParleyError(.network, "The URL of the upload is invalid.")
            }
            var sent = URLRequest(url: url)
            sent.httpMethod = request.method.rawValue
            for (name, value) in request.headers { sent.addValue(value, forHTTPHeaderField: name) }
            return (sent, stored)
        }

        /// The file with exactly the bytes of a body: a new one for the rest of a file.
        private func bodyFile(
            _ body: TransportRequest.StoredBody
        ) throws(ParleyError) -> (URL, isTemporary: Bool) {
            if let file = body.file { return (URL(filePath: file), false) }
            let url = URL(filePath: folder).appending(path: "background-\(UUID().uuidString)")
            do {
                try Data().write(
                    to: url, options: .completeFileProtectionUntilFirstUserAuthentication)
                let handle = try FileHandle(forWritingTo: url)
                defer { try? handle.close() }
                var position: Int64 = 0
                while position < body.count {
                    let bytes = try body.read(Int(min(256 << 10, body.count - position)), position)
                    guard !bytes.isEmpty else {
                        throw ParleyError(
                            .contentMissing, "The file of the part has become shorter.")
                    }
                    try handle.write(contentsOf: Data(bytes))
                    position += Int64(bytes.count)
                }
                return (url, true)
            } catch {
                try? FileManager.default.removeItem(at: url)
                throw error as? ParleyError
                    ?? ParleyError(
                        .storeUnavailable, "The file of an upload cannot be written: \(error).",
                        isTransient: true)
            }
        }

        /// Receives the answers of tasks of this process and of earlier ones.
        private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
            /// The longest answer; those of uploads have a few hundred bytes.
            private static let answerLimit = 1 << 20

            private struct Upload {
                var body: [UInt8] = []
                var onSent: (@Sendable (Int64) -> Void)?
                var temporary: URL?
            }

            let requests = BackgroundRequests()
            private let uploads = Locked<[Int: Upload]>([:])
            private let isAdopted = AsyncStream.makeStream(of: Void.self)

            /// Records the tasks of earlier processes.
            func adopt(_ tasks: [URLSessionTask]) {
                for task in tasks {
                    if let name = BackgroundTaskName(task.taskDescription) {
                        requests.found(name.part)
                    }
                }
                isAdopted.continuation.finish()
            }

            func waitUntilAdopted() async { for await _ in isAdopted.stream {} }

            func add(
                _ task: URLSessionTask, onSent: @escaping @Sendable (Int64) -> Void, temporary: URL?
            ) {
                uploads.withLock { uploads in
                    uploads[task.taskIdentifier] = Upload(onSent: onSent, temporary: temporary)
                }
            }

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
            ) {
                uploads.withLock { uploads in
                    var upload = uploads[dataTask.taskIdentifier] ?? Upload()
                    guard upload.body.count + data.count <= Self.answerLimit else { return }
                    upload.body += data
                    uploads[dataTask.taskIdentifier] = upload
                }
            }

            func urlSession(
                _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
                totalBytesSent: Int64, totalBytesExpectedToSend: Int64
            ) {
                let onSent = uploads.withLock { uploads in uploads[task.taskIdentifier]?.onSent }
                onSent?(totalBytesSent)
            }

            /// A redirection would send the bytes to another server.
            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest,
                completionHandler: @escaping @Sendable (URLRequest?) -> Void
            ) {
                completionHandler(nil)
            }

            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                didCompleteWithError error: (any Error)?
            ) {
                let upload = uploads.withLock { uploads in
                    uploads.removeValue(forKey: task.taskIdentifier)
                }
                if let file = upload?.temporary { try? FileManager.default.removeItem(at: file) }
                guard let name = BackgroundTaskName(task.taskDescription) else { return }
                requests.finish(name.part, Self.answer(task, upload?.body ?? [], error))
            }

            private static func answer(
                _ task: URLSessionTask, _ body: [UInt8], _ error: (any Error)?
            ) -> BackgroundRequests.Answer {
                guard error == nil, let response = task.response as? HTTPURLResponse else {
                    let isCancelled = (error as? URLError)?.code == .cancelled
                    return .failure(
                        isCancelled
                            ? .cancelled
                            : ParleyError(
                                .network, "The server cannot be reached.", isTransient: true))
                }
                let headers = response.allHeaderFields.compactMap { name, value in
                    (name as? String).flatMap { name in
                        (value as? String).map { value in (name: name, value: value) }
                    }
                }
                return .success(
                    TransportResponse(
                        status: response.statusCode, headers: Fields(headers), body: body))
            }
        }
    }
#endif
