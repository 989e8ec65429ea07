internal import Dispatch
internal import Glibc

/// A helper server for the tests of this process, run by a script. It answers commands line by
/// line, and ends, with everything it started, when its input pipe is closed, however this process
/// ends.
public final class HelperProcess: Sendable {
    /// The writing end of the script's input; closing it ends the script.
    private let input: Int32
    private let output: Int32
    private let process: pid_t

    /// Starts a script in this folder.
    ///
    /// - Parameter interpreter: A path, or a name on the `PATH`; traps if it is missing.
    public init(_ script: String, by interpreter: String) {
        let (commands, replies) = (Self.pipe(), Self.pipe())
        input = commands.writing
        output = replies.reading
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, commands.reading, 0)
        posix_spawn_file_actions_adddup2(&actions, replies.writing, 1)
        let path = Self.folder + "/" + script
        let arguments: [UnsafeMutablePointer<CChar>?] = [strdup(interpreter), strdup(path), nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, interpreter, &actions, nil, arguments, environ)
        precondition(code == 0, "there is no \(interpreter): \(code)")
        self.process = process
        close(commands.reading)
        close(replies.writing)
    }

    deinit {
        close(input)
        close(output)
        // Reaps the process: the testing library polls without a pause while there is a zombie.
        let process = process
        DispatchQueue.global().async { waitpid(process, nil, 0) }
    }

    /// The folder of the scripts.
    static var folder: String {
        "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// The next line of output; empty when the script has ended.
    func line() -> String {
        var (text, byte): ([UInt8], [UInt8]) = ([], [0])
        while Glibc.read(output, &byte, 1) == 1, byte[0] != 10 { text += byte }
        return String(decoding: text, as: UTF8.self)
    }

    /// Sends a line and waits for the answer.
    public func send(_ line: String) -> String {
        let bytes = Array("\(line)\n".utf8)
        _ = write(input, bytes, bytes.count)
        return self.line()
    }

    /// Connected sockets, used as a pipe.
    ///
    /// They are never inherited, as pipes are that another thread's child process gets before they can be marked: such a
    /// process would keep the script running. `pipe2` is not visible to Swift.
    private static func pipe() -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let code = socketpair(AF_UNIX, kind, 0, &ends)
        precondition(code == 0, "no socket pair: \(errno)")
        return (ends[0], ends[1])
    }
}
