internal import Glibc

/// A server that a script keeps for the tests of this process: it answers in lines, is told what to do in
/// lines, and takes everything with it when the pipe it reads from is closed, however this process ends.
public final class HelperProcess: Sendable {
    /// The end of a pipe the script waits at, and of the one it answers through.
    private let lifeline: Int32
    private let answers: Int32

    /// Starts a script of this folder.
    ///
    /// - Parameter interpreter: A path, or a name to look for on the `PATH`; without it no test can go on.
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
        close(input.reading)
        close(output.writing)
    }

    deinit {
        close(lifeline)
        close(answers)
    }

    /// Where the scripts are.
    static var folder: String {
        "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// The next line of its answers; empty when it has ended.
    func line() -> String {
        var (text, byte): ([UInt8], [UInt8]) = ([], [0])
        while Glibc.read(answers, &byte, 1) == 1, byte[0] != 10 { text += byte }
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes a line to it, and waits for the one it answers with.
    public func tell(_ line: String) -> String {
        let words = Array("\(line)\n".utf8)
        _ = write(lifeline, words, words.count)
        return self.line()
    }

    private static func pipe() -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        // Not inherited: a child started meanwhile would hold the server.
        let code = Glibc.pipe(&ends)
        precondition(code == 0, "no pipe: \(errno)")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
