import CCurl
import Dispatch
import SystemSupport

// A file of the C boundary: libcurl's multi handle is driven here.

/// What drives libcurl: a queue that calls it when a socket is ready or a time has come.
@safe final class CurlLoop: @unchecked Sendable {
    // Sendable because all that changes, and libcurl's handles, are touched on `queue` alone, and in
    // `deinit`, when nobody is left who could put anything on it.

    let curl: CurlLibrary
    let settings: HTTPClientSettings
    private let queue = DispatchQueue(label: "parley.http-client")
    private let multi: OpaquePointer
    private let timer: any DispatchSourceTimer
    private var transfers: [Int: CurlTransfer] = [:]
    private var sockets: [Int32: WatchedSocket] = [:]
    private let registry = Locked(Registry())

    /// Requests that were given a number and have not come to the queue.
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
        timer.setEventHandler { [weak self] in self?.act(Int32(CURL_TIMEOUT), 0) }
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
        // What libcurl would tell while it closes its connections concerns nobody any more.
        unsafe curl_multi_set_loop(curl.functions, multi, nil, nil, nil)
        timer.cancel()
        for transfer in transfers.values { leave(transfer) }
        _ = unsafe curl.functions.pointee.multi_cleanup(multi)
    }

    /// A number for a request, so that it can be cancelled whether or not it has started.
    func register() -> Int {
        registry.withLock { registry in
            registry.next += 1
            registry.waiting.insert(registry.next)
            return registry.next
        }
    }

    /// Starts a request; `head` hears of its answer's head or of the end.
    func start(_ request: ClientRequest, _ number: Int, _ head: CurlTransfer.HeadWaiter) {
        queue.async { [self] in
            guard takeRegistration(number) else {
                return head.resume(returning: .failure(.cancelled))
            }
            do throws(HTTPClientError) {
                let transfer = try CurlTransfer(request, number, head, curl, settings)
                transfers[number] = transfer
                if let patience = request.responseTimeout {
                    transfer.whenSent = { [weak self] in self?.end(number, after: patience) }
                }
                guard let easy = unsafe transfer.easy else { return }
                let result = unsafe curl.functions.pointee.multi_add_handle(multi, easy)
                if result != Int32(CURL_OK) {
                    end(transfer, .failure(.init(.unavailable, "libcurl is full")))
                }
            } catch {
                head.resume(returning: .failure(error))
            }
        }
    }

    /// Hands over what has come of a request's answer, or waits for more.
    func read(_ number: Int, _ reader: CurlTransfer.Reader) {
        queue.async { [self] in
            guard let transfer = transfers[number] else {
                return reader.resume(returning: .failure(.cancelled))
            }
            transfer.read(reader)
        }
    }

    /// Ends a request, wherever it is; also called when nobody wants the rest of an answer.
    func cancel(_ number: Int) {
        queue.async { [self] in
            guard !takeRegistration(number), let transfer = transfers[number] else { return }
            end(transfer, .failure(.cancelled))
            transfers[number] = nil
        }
    }

    /// Ends a request whose answer is not whole in time.
    private func end(_ number: Int, after patience: Duration) {
        queue.asyncAfter(deadline: .now() + .milliseconds(patience.milliseconds)) { [weak self] in
            guard let self, let transfer = transfers[number] else { return }
            end(transfer, .failure(.unanswered))
        }
    }

    private func takeRegistration(_ number: Int) -> Bool {
        registry.withLock { registry in registry.waiting.remove(number) != nil }
    }

    /// Lets libcurl do what can be done now.
    fileprivate func act(_ descriptor: Int32, _ events: Int32) {
        var running: Int32 = 0
        _ = unsafe curl.functions.pointee.multi_socket_action(multi, descriptor, events, &running)
        var waiting: Int32 = 0
        while let message = unsafe curl.functions.pointee.multi_info_read(multi, &waiting) {
            guard unsafe message.pointee.kind == Int32(CURL_MESSAGE_DONE),
                let easy = unsafe message.pointee.easy,
                let place = unsafe curl_private(curl.functions, easy)
            else { continue }
            let result = unsafe message.pointee.data.result
            let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(place).takeUnretainedValue()
            end(transfer, transfer.outcome(of: result))
        }
    }

    private func end(_ transfer: CurlTransfer, _ outcome: Result<Void, HTTPClientError>) {
        leave(transfer)
        // Without a head nobody holds a stream who could let go of it.
        if !transfer.finish(outcome) { transfers[transfer.number] = nil }
    }

    private func leave(_ transfer: CurlTransfer) {
        guard let easy = unsafe transfer.easy else { return }
        _ = unsafe curl.functions.pointee.multi_remove_handle(multi, easy)
        transfer.free()
    }

    // Called by libcurl, from within `act`.

    private func watch(_ descriptor: Int32, _ events: Int32, for easy: OpaquePointer?) {
        guard events != Int32(CURL_EVENT_REMOVE) else {
            sockets[descriptor] = nil
            return
        }
        let known =
            sockets[descriptor]
            ?? WatchedSocket(descriptor, queue) { [weak self] events in
                self?.act(descriptor, events)
            }
        guard let socket = known else { return unsafe giveUp(easy) }
        sockets[descriptor] = socket
        socket.watch(reading: events & 1 != 0, writing: events & 2 != 0)
    }

    /// Ends a request whose socket nobody can watch, in a later turn of the queue: within its own call
    /// libcurl must not lose the handle.
    private func giveUp(_ easy: OpaquePointer?) {
        // Behind a handle of libcurl's own, for a connection it closes, there is no request.
        guard let easy = unsafe easy, let place = unsafe curl_private(curl.functions, easy) else {
            return
        }
        let number = unsafe Unmanaged<CurlTransfer>.fromOpaque(place).takeUnretainedValue().number
        queue.async { [self] in
            guard let transfer = transfers[number] else { return }
            end(transfer, .failure(.noDescriptor))
        }
    }

    private func wake(after milliseconds: Int) {
        timer.schedule(
            deadline: milliseconds < 0 ? .distantFuture : .now() + .milliseconds(milliseconds))
    }
}

extension HTTPClientError {
    /// The request was given up.
    static var cancelled: HTTPClientError {
        HTTPClientError(.cancelled, "the request was given up")
    }

    /// The answer did not come in time.
    static var unanswered: HTTPClientError {
        HTTPClientError(.timedOut, "the answer did not come in time")
    }

    /// This process may open no more.
    static var noDescriptor: HTTPClientError {
        HTTPClientError(.unreachable, "no descriptor is left")
    }
}

// A file of the C boundary: libcurl's functions are found and called here.

/// libcurl, loaded at its first use.
@safe struct CurlLibrary: @unchecked Sendable {
    // Sendable because the table is filled in once, before anybody sees it.
    let functions: UnsafePointer<curl_library>

    /// The oldest release with all that is used, that of Ubuntu 20.04.
    private static let oldest: UInt32 = 0x07_44_00

    private static let loaded = Result { () throws(HTTPClientError) in
        let functions = UnsafeMutablePointer<curl_library>.allocate(capacity: 1)
        unsafe functions.initialize(to: curl_library())
        if let words = unsafe curl_load(functions) {
            throw HTTPClientError(
                .unavailable, unsafe "libcurl could not be loaded: \(String(cString: words))")
        }
        guard unsafe functions.pointee.global_init(CURL_GLOBAL_DEFAULT) == Int32(CURL_OK),
            let version = unsafe functions.pointee.version_info(0)
        else { throw HTTPClientError(.unavailable, "libcurl could not be started") }
        guard unsafe version.pointee.number >= oldest else {
            let text = unsafe String(cString: version.pointee.text)
            throw HTTPClientError(.unavailable, "libcurl \(text) is older than 7.68.0")
        }
        return unsafe CurlLibrary(functions: UnsafePointer(functions))
    }

    /// - Throws: `unavailable`.
    static func load() throws(HTTPClientError) -> CurlLibrary { try loaded.get() }

    /// What it says of a result.
    func words(_ result: Int32) -> String {
        let words = unsafe functions.pointee.easy_strerror(result)
        return unsafe words.map { words in unsafe String(cString: words) } ?? "error \(result)"
    }
}
