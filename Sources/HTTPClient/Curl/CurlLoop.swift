import CCurl
import Dispatch
import SystemSupport

// C boundary: `CurlLoop` owns libcurl's multi handle. libcurl calls it back only inside calls that the loop makes, so it
// is alive, and messages and handles are read only before the next call.

/// The queue that runs libcurl: it calls libcurl when a socket is ready or a timer has expired.
@safe final class CurlLoop: @unchecked Sendable {
    // Sendable because mutable state and libcurl's handles are used only on `queue`, and in `deinit`, when
    // nothing can be enqueued any more.

    private let curl: CurlLibrary
    private let settings: HTTPClientSettings
    private let queue = DispatchQueue(label: "parley.http-client")
    private let multi: OpaquePointer
    private let timer: any DispatchSourceTimer
    private var transfers: [Int: CurlTransfer] = [:]
    private var sockets: [Int32: WatchedSocket] = [:]
    private let registry = Locked(Registry())

    /// The requests that have a number and have not been started on the queue.
    private struct Registry {
        var next = 0
        var waiting: Set<Int> = []
    }

    init(_ curl: CurlLibrary, _ settings: HTTPClientSettings) throws(HTTPClientError) {
        guard let multi = unsafe curl.functions.pointee.multi_init() else {
            throw HTTPClientError(.unavailable, "libcurl has no memory")
        }
        unsafe self.multi = multi
        self.curl = curl
        self.settings = settings
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .distantFuture)
        timer.setEventHandler { [weak self] in self?.process(Int32(CURL_TIMEOUT), 0) }
        timer.activate()
        unsafe curl_multi_set_number(
            curl.functions, multi, Int32(CURL_MULTI_MAX_HOST_CONNECTIONS),
            settings.connectionsPerHost)
        unsafe curl_multi_set_loop(
            curl.functions, multi, Unmanaged.passUnretained(self).toOpaque(),
            { easy, descriptor, events, loop, _ in
                guard let loop = unsafe loop else { return 0 }
                unsafe Unmanaged<CurlLoop>.fromOpaque(loop).takeUnretainedValue()
                    .watch(descriptor, events, for: easy)
                return 0
            },
            { _, milliseconds, loop in
                guard let loop = unsafe loop else { return 0 }
                unsafe Unmanaged<CurlLoop>.fromOpaque(loop).takeUnretainedValue()
                    .wake(after: milliseconds)
                return 0
            })
    }

    deinit {
        // libcurl would call back while it closes its connections.
        unsafe curl_multi_set_loop(curl.functions, multi, nil, nil, nil)
        timer.cancel()
        for transfer in transfers.values { remove(transfer) }
        _ = unsafe curl.functions.pointee.multi_cleanup(multi)
    }

    /// Assigns a number to a request, so that it can be cancelled before it has started.
    func register() -> Int {
        registry.withLock { registry in
            registry.next += 1
            registry.waiting.insert(registry.next)
            return registry.next
        }
    }

    /// Starts a request; `head` is resumed with the head of the response or with an error.
    func start(_ request: ClientRequest, _ number: Int, _ head: CurlTransfer.HeadWaiter) {
        queue.async { [self] in
            guard takeRegistration(number) else {
                return head.resume(returning: .failure(.cancelled))
            }
            do throws(HTTPClientError) {
                let transfer = try CurlTransfer(request, number, head, curl, settings)
                transfers[number] = transfer
                if let timeout = request.responseTimeout {
                    transfer.onBodySent = { [weak self] in self?.end(number, after: timeout) }
                }
                guard let easy = unsafe transfer.easy else { return }
                let result = unsafe curl.functions.pointee.multi_add_handle(multi, easy)
                if result != Int32(CURL_OK) {
                    end(transfer, .failure(.init(.unavailable, "libcurl rejected the request")))
                }
            } catch {
                head.resume(returning: .failure(error))
            }
        }
    }

    /// Returns the buffered bytes of a response to the reader, or makes it wait for more.
    func read(_ number: Int, _ reader: CurlTransfer.Reader) {
        queue.async { [self] in
            guard let transfer = transfers[number] else {
                return reader.resume(returning: .failure(.cancelled))
            }
            transfer.read(reader)
        }
    }

    /// Cancels a request in any state; also called when a response stream is released.
    func cancel(_ number: Int) {
        queue.async { [self] in
            guard !takeRegistration(number), let transfer = transfers[number] else { return }
            end(transfer, .failure(.cancelled))
            transfers[number] = nil
        }
    }

    /// Ends a request whose whole response has not been received in time.
    private func end(_ number: Int, after timeout: Duration) {
        queue.asyncAfter(deadline: .now() + .milliseconds(timeout.milliseconds)) { [weak self] in
            guard let self, let transfer = transfers[number] else { return }
            end(transfer, .failure(.responseTimedOut))
        }
    }

    private func takeRegistration(_ number: Int) -> Bool {
        registry.withLock { registry in registry.waiting.remove(number) != nil }
    }

    /// Lets libcurl process an event of a socket or the timer, and ends the requests that are complete.
    private func process(_ descriptor: Int32, _ events: Int32) {
        var running: Int32 = 0
        _ = unsafe curl.functions.pointee.multi_socket_action(multi, descriptor, events, &running)
        var waiting: Int32 = 0
        while let message = unsafe curl.functions.pointee.multi_info_read(multi, &waiting) {
            guard unsafe message.pointee.kind == Int32(CURL_MESSAGE_DONE),
                let easy = unsafe message.pointee.easy,
                let context = unsafe curl_private(curl.functions, easy)
            else { continue }
            let result = unsafe message.pointee.data.result
            let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            end(transfer, transfer.outcome(of: result))
        }
    }

    private func end(_ transfer: CurlTransfer, _ outcome: Result<Void, HTTPClientError>) {
        remove(transfer)
        // Without a head there is no stream whose release would remove the transfer.
        if !transfer.finish(outcome) { transfers[transfer.number] = nil }
    }

    private func remove(_ transfer: CurlTransfer) {
        guard let easy = unsafe transfer.easy else { return }
        _ = unsafe curl.functions.pointee.multi_remove_handle(multi, easy)
        transfer.free()
    }

    // MARK: Called by libcurl, within `process`

    private func watch(_ descriptor: Int32, _ events: Int32, for easy: OpaquePointer?) {
        guard events != Int32(CURL_EVENT_REMOVE) else {
            sockets[descriptor] = nil
            return
        }
        let known =
            sockets[descriptor]
            ?? WatchedSocket(descriptor, queue) { [weak self] events in
                self?.process(descriptor, events)
            }
        guard let socket = known else { return unsafe endUnwatched(easy) }
        sockets[descriptor] = socket
        socket.watch(reading: events & 1 != 0, writing: events & 2 != 0)
    }

    /// Ends a request whose socket cannot be watched. It does so later on the queue: the handle must not be
    /// removed during a call from libcurl.
    private func endUnwatched(_ easy: OpaquePointer?) {
        // A handle that libcurl uses to close a connection has no request.
        guard let easy = unsafe easy, let context = unsafe curl_private(curl.functions, easy) else {
            return
        }
        let number = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().number
        queue.async { [self] in
            guard let transfer = transfers[number] else { return }
            end(transfer, .failure(.noDescriptor))
        }
    }

    /// Sets the timer; a negative number turns it off.
    private func wake(after milliseconds: Int) {
        timer.schedule(
            deadline: milliseconds < 0 ? .distantFuture : .now() + .milliseconds(milliseconds))
    }
}

extension HTTPClientError {
    fileprivate static var cancelled: HTTPClientError {
        HTTPClientError(.cancelled, "the request was cancelled")
    }

    fileprivate static var responseTimedOut: HTTPClientError {
        HTTPClientError(.timedOut, "the response was not received in time")
    }

    /// The process has reached its limit of open descriptors.
    static var noDescriptor: HTTPClientError {
        HTTPClientError(.unreachable, "no descriptor is left")
    }
}

/// The functions of libcurl, which is loaded at its first use.
@safe struct CurlLibrary: @unchecked Sendable {
    // Sendable because the table never changes after it was filled. It is never freed, and neither are the texts in it.
    let functions: UnsafePointer<curl_library>

    /// The oldest supported release: 7.68, of Ubuntu 20.04.
    private static let minimumVersion: UInt32 = 0x07_44_00

    private static let loaded = Result { () throws(HTTPClientError) in
        let functions = UnsafeMutablePointer<curl_library>.allocate(capacity: 1)
        unsafe functions.initialize(to: curl_library())
        if let reason = unsafe curl_load(functions) {
            throw HTTPClientError(
                .unavailable, unsafe "libcurl could not be loaded: \(String(cString: reason))")
        }
        guard unsafe functions.pointee.global_init(CURL_GLOBAL_DEFAULT) == Int32(CURL_OK),
            let version = unsafe functions.pointee.version_info(0)
        else { throw HTTPClientError(.unavailable, "libcurl could not be started") }
        guard unsafe version.pointee.number >= minimumVersion else {
            let text = unsafe String(cString: version.pointee.text)
            throw HTTPClientError(.unavailable, "libcurl \(text) is older than 7.68.0")
        }
        return unsafe CurlLibrary(functions: UnsafePointer(functions))
    }

    /// - Throws: `unavailable`.
    static func load() throws(HTTPClientError) -> CurlLibrary { try loaded.get() }

    /// The text of libcurl for a result code.
    func description(of result: Int32) -> String {
        let text = unsafe functions.pointee.easy_strerror(result)
        return unsafe text.map { text in unsafe String(cString: text) } ?? "error \(result)"
    }
}
