import CLinux
import Dispatch
import Glibc
import SystemSupport

/// Checks periodically whether certificate files have changed, and makes a server reload them (H165).
///
/// It polls, because a renewal replaces files, symbolic links or whole folders, and inotify on a replaced
/// name reports nothing. A minute is soon enough, because certificates are renewed weeks ahead.
public final class CertificateWatcher: @unchecked Sendable {
    // Sendable because the timer is only started and cancelled, and everything else has a lock or is
    // constant.

    /// The result of a reload.
    public typealias Report = @Sendable (Result<Void, TLSConfigurationError>) -> Void

    /// The metadata by which a change of a file is detected.
    private struct FileStamp: Equatable {
        let inode: UInt
        let size: Int
        let seconds: Int
        let nanoseconds: Int
    }

    private let server: Server
    private let configuration: TLSConfiguration
    private let report: Report
    private let stamps: Locked<[FileStamp?]>
    private let timer: any DispatchSourceTimer

    /// Starts to watch, until the last reference is released.
    ///
    /// - Parameters:
    ///   - milliseconds: The time between two checks.
    ///   - report: Called after each reload, on a separate queue.
    public init(
        _ server: Server, _ configuration: TLSConfiguration, every milliseconds: Int = 60_000,
        report: @escaping Report
    ) {
        self.server = server
        self.configuration = configuration
        self.report = report
        stamps = Locked(Self.stamps(of: configuration))
        timer = DispatchSource.makeTimerSource(
            queue: DispatchQueue(label: "parley.certificates", qos: .utility))
        timer.schedule(
            deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds))
        timer.setEventHandler { @Sendable [weak self] in self?.check() }
        timer.resume()
    }

    deinit { timer.cancel() }

    /// Checks the files, and reloads them when they have changed. A pair of files that is invalid is reported
    /// once until it changes again, because a renewal replaces two files one after the other.
    private func check() {
        let seen = Self.stamps(of: configuration)
        let isNew = stamps.withLock { stamps in
            defer { stamps = seen }
            return stamps != seen
        }
        guard isNew else { return }
        do {
            try server.reload(tls: configuration)
            report(.success(()))
        } catch {
            report(.failure(error))
        }
    }

    private static func stamps(of configuration: TLSConfiguration) -> [FileStamp?] {
        var files = configuration.certificates.flatMap { pair in [pair.chain, pair.key] }
        if let bundle = configuration.clientBundle { files.append(bundle) }
        return files.map { file in
            var status = stat()
            // The structure lives through the call.
            guard unsafe stat(file, &status) == 0 else { return nil }
            return FileStamp(
                inode: UInt(status.st_ino), size: Int(status.st_size),
                seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        }
    }
}
