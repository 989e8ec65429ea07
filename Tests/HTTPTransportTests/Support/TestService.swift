import Glibc
import HTTP
import Synchronization

/// A service made of one closure; its refusals are `text/plain` with the rule's number.
final class TestService: Service {
    private let decide: @Sendable (Request) -> Answer

    /// Answers with the closure; echoes without one.
    init(_ decide: @escaping @Sendable (Request) -> Answer = TestService.echo) {
        self.decide = decide
    }

    func answer(to request: Request) -> Answer { decide(request) }

    func refusal(_ refusal: Refusal) -> Response {
        Response(refusal.status, "text/plain", Array(refusal.rule.utf8))
    }

    /// The body, or the path when there is none.
    static let echo: @Sendable (Request) -> Answer = { request in
        guard request.framing.announcesContent else {
            return Answer("echo", Response(.ok, "text/plain", Array(request.target.path.utf8)))
        }
        return Answer("echo") { body in await collected(body) }
    }

    /// Answers with the whole body; a body that fails becomes the matching status.
    static func collected(_ body: any RequestBody) async -> Response {
        do throws(BodyError) {
            return Response(.ok, "text/plain", try await body.collect())
        } catch {
            return switch error {
            case .refused(let refusal):
                Response(refusal.status, "text/plain", Array(refusal.rule.utf8))
            case .stalled: Response(.requestTimeout, "text/plain", Array("stalled".utf8))
            case .interrupted: Response(.badRequest, "text/plain", Array("interrupted".utf8))
            case .superseded: .dropped
            }
        }
    }

    /// Answers with the text once `before` returns.
    static func later(_ text: String, _ before: @escaping @Sendable () async -> Void) -> Answer {
        Answer("later") { _ in
            await before()
            return Response(.ok, "text/plain", Array(text.utf8))
        }
    }
}

/// Blocks handlers until the test opens it.
actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        guard !isOpen else { return }
        await withCheckedContinuation { continuation in waiting.append(continuation) }
    }

    private func resumeAll() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// Resumes all handlers; may be called from any thread.
    nonisolated func open() { Task { await resumeAll() } }
}

/// Counts from any thread.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    func add(_ number: Int) { count.add(number, ordering: .acquiringAndReleasing) }
    var value: Int { count.load(ordering: .acquiring) }
}

extension String {
    /// A request head: this line, a Host, these header lines.
    static func head(_ line: String, _ fields: String...) -> String {
        ([line, "Host: h"] + fields).map { line in line + "\r\n" }.joined() + "\r\n"
    }
}

/// A temporary file with the content, deleted with the object.
final class TestFile: FileContent {
    let descriptor: Int32

    init(_ bytes: [UInt8]) throws {
        var name = Array("/tmp/parley-http-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Client.Failure.system(errno) }
        unlink(&name)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { rest in
                write(descriptor, rest.baseAddress, rest.count)
            }
            guard count > 0 else { throw Client.Failure.system(errno) }
            written += count
        }
    }

    deinit { close(descriptor) }
}
