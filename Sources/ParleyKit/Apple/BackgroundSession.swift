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
        /// Records the tasks of earlier processes.
        private let adoption: Task<Void, Never>
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
            let delegate = Delegate()
            let session = URLSession(
                configuration: settings, delegate: delegate, delegateQueue: nil)
            adoption = Task { delegate.adopt(await session.allTasks) }
            (self.delegate, self.session) = (delegate, session)
            self.server = server
            self.folder = folder
        }

        /// Ends the session in this process. The system goes on with its tasks.
        deinit { session.finishTasksAndInvalidate() }

        func put(
            _ request: TransportRequest, of part: MessagePart.ID
        ) async throws(ParleyError) -> TransportResponse {
            await adoption.value
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
            await adoption.value
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

            private struct State {
                var uploads: [Int: Upload] = [:]
                /// The tasks that have ended before those of earlier processes were recorded; `nil` afterwards.
                var ended: Set<Int>? = []
            }

            let requests = BackgroundRequests()
            private let state = Locked(State())

            /// Records the tasks of earlier processes, without those whose end was reported meanwhile: nothing else would
            /// end the waiting for them.
            func adopt(_ tasks: [URLSessionTask]) {
                state.withLock { state in
                    for task in tasks where state.ended?.contains(task.taskIdentifier) == false {
                        if let name = BackgroundTaskName(task.taskDescription) {
                            requests.found(name.part)
                        }
                    }
                    state.ended = nil
                }
            }

            func add(
                _ task: URLSessionTask, onSent: @escaping @Sendable (Int64) -> Void, temporary: URL?
            ) {
                state.withLock { state in
                    state.uploads[task.taskIdentifier] = Upload(
                        onSent: onSent, temporary: temporary)
                }
            }

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
            ) {
                state.withLock { state in
                    var upload = state.uploads[dataTask.taskIdentifier] ?? Upload()
                    guard upload.body.count + data.count <= Self.answerLimit else { return }
                    upload.body += data
                    state.uploads[dataTask.taskIdentifier] = upload
                }
            }

            func urlSession(
                _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
                totalBytesSent: Int64, totalBytesExpectedToSend: Int64
            ) {
                let onSent = state.withLock { state in
                    state.uploads[task.taskIdentifier]?.onSent
                }
                onSent?(totalBytesSent)
            }

            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                didCompleteWithError error: (any Error)?
            ) {
                let upload = state.withLock { state in
                    state.ended?.insert(task.taskIdentifier)
                    return state.uploads.removeValue(forKey: task.taskIdentifier)
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
