import FoundationEssentials
import Glibc
import HTTP
import UploadClient

extension Command {
    /// Uploads a file to a conversation and prints its content's id.
    ///
    /// Missing arguments are taken from the environment: `PARLEY_APP_ID`, `PARLEY_APP_TOKEN`,
    /// `PARLEY_PUBLIC_URL`.
    ///
    /// - Returns: 130 after SIGINT or SIGTERM; the same call resumes the upload.
    public static func upload(
        _ file: String, to conversation: String, application: String?, server: String?,
        type: String?
    ) async throws -> Int32 {
        let environment = ProcessInfo.processInfo.environment
        guard let application = application ?? environment["PARLEY_APP_ID"] else {
            throw CommandFailure("the application is missing: use --app ID, or PARLEY_APP_ID")
        }
        guard let token = environment["PARLEY_APP_TOKEN"] else {
            throw CommandFailure("PARLEY_APP_TOKEN must be a token of the application")
        }
        let target = try UploadTarget(
            server: server ?? environment["PARLEY_PUBLIC_URL"] ?? "http://127.0.0.1:8080",
            application: application, token: token, conversation: conversation)
        let upload = try FileUpload(
            file, type: type ?? MediaType(fileName: file).text, to: target,
            resumeFolder: try resumeFolder(environment))
        let bar = ProgressBar(of: upload.size)
        let work = Task { try await upload.run { bytes in bar.show(bytes) } }
        let signals = ProcessSignals()
        let watch = Task {
            for await name in signals.names where name.stops { work.cancel() }
        }
        defer {
            watch.cancel()
            bar.end()
        }
        do {
            let content = try await work.value
            bar.show(upload.size)
            bar.end()
            printLine("CONTENT=\(content.id)")
            if !content.isVerified {
                printError(
                    "parley: the answer has no SHA-256 of the content, so the content is not verified"
                )
            }
            return 0
        } catch let failure as UploadFailure where failure.isCancelled {
            bar.end()
            printError("parley: interrupted; run the same command again to resume")
            return 130
        }
    }

    private static func resumeFolder(_ environment: [String: String]) throws(CommandFailure)
        -> String
    {
        if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") {
            return "\(cache)/parley/uploads"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw CommandFailure("HOME or XDG_CACHE_HOME must be set, to store the upload's state")
        }
        return "\(home)/.cache/parley/uploads"
    }
}
