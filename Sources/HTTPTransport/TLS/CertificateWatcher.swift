import CLinux
import Dispatch
import Glibc
import SystemSupport

/// Looks every so often whether the files of certificates have changed, and has a server read them
/// again when they have (H165).
///
/// Polls, because a renewal replaces files, links or whole folders, and a watch on a name that was
/// replaced hears nothing; sixty seconds are soon enough for what is renewed weeks ahead.
public final class CertificateWatcher: @unchecked Sendable {
    // Sendable because the timer is only started and cancelled, and all else has a lock or never changes.

    /// What came of a change: the server's certificates are new, or why they are not.
    public typealias Report = @Sendable (Result<Void, TLSConfigurationError>) -> Void

    /// What tells one state of a file from another.
    private struct Trace: Equatable {
        let inode: UInt
        let size: Int
        let seconds: Int
        let nanoseconds: Int
    }

    private let server: Server
    private let configuration: TLSConfiguration
    private let report: Report
    private let traces: Locked<[Trace?]>
    private let timer: any DispatchSourceTimer

    /// Begins to look; ends with the last reference.
    ///
    /// - Parameters:
    ///   - milliseconds: From one look to the next.
    ///   - report: Told of every change, on a queue of its own.
    public init(
        _ server: Server, _ configuration: TLSConfiguration, every milliseconds: Int = 60_000,
        report: @escaping Report
    ) {
        self.server = server
        self.configuration = configuration
        self.report = report
        traces = Locked(Self.traces(of: configuration))
        timer = DispatchSource.makeTimerSource(
            queue: DispatchQueue(label: "parley.certificates", qos: .utility))
        timer.schedule(
            deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds))
        timer.setEventHandler { @Sendable [weak self] in self?.look() }
        timer.resume()
    }

    deinit { timer.cancel() }

    /// Looks, and reads again what has changed. A pair that is bad now is told of once, until its
    /// files change again: of two files that are replaced, one is the first.
    private func look() {
        let seen = Self.traces(of: configuration)
        let isNew = traces.withLock { traces in
            defer { traces = seen }
            return traces != seen
        }
        guard isNew else { return }
        do {
            try server.reload(tls: configuration)
            report(.success(()))
        } catch {
            report(.failure(error))
        }
    }

    private static func traces(of configuration: TLSConfiguration) -> [Trace?] {
        var files = configuration.certificates.flatMap { pair in [pair.chain, pair.key] }
        if let bundle = configuration.clientBundle { files.append(bundle) }
        return files.map { file in
            var status = stat()
            guard unsafe stat(file, &status) == 0 else { return nil }
            return Trace(
                inode: UInt(status.st_ino), size: Int(status.st_size),
                seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        }
    }
}
