internal import Dispatch
internal import Glibc

/// A helper server for the tests of this process, run by a script. It answers commands line by
/// line, and ends, with everything it started, when its input pipe is closed, however this process
/// ends.
public final class HelperProcess: Sendable {
    /// The writing end of the script's input; closing it ends the script.
    private let lifeline: Int32
    private let answers: Int32
    private let process: pid_t

    /// Starts a script in this folder.
    ///
    /// - Parameter interpreter: A path, or a name on the `PATH`; traps if it is missing.
    public init(_ script: String, by interpreter: String) {
        let (input, output) = (Self.pipe(), Self.pipe())
        lifeline = input.writing
        answers = output.reading
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.reading, 0)
        posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
        let place = Self.folder + "/" + script
        let words: [UnsafeMutablePointer<CChar>?] = [strdup(interpreter), strdup(place), nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, interpreter, &actions, nil, words, environ)
        precondition(code == 0, "there is no \(interpreter): \(code)")
        self.process = process
        close(input.reading)
        close(output.writing)
    }

    deinit {
        close(lifeline)
        close(answers)
        // Waits for its end: the testing library asks for ended processes without a pause while there is one that
        // nothing waited for.
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
        while Glibc.read(answers, &byte, 1) == 1, byte[0] != 10 { text += byte }
        return String(decoding: text, as: UTF8.self)
    }

    /// Sends a line and waits for the answer.
    public func tell(_ line: String) -> String {
        let words = Array("\(line)\n".utf8)
        _ = write(lifeline, words, words.count)
        return self.line()
    }

    private static func pipe() -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        // Not inherited: a child process would keep the script running.
        let code = Glibc.pipe(&ends)
        precondition(code == 0, "no pipe: \(errno)")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
