import Glibc

/// What the commands have in common: settings come in, lines and an exit code go out.
public enum Command {
    /// Reads the settings, or tells every mistake.
    ///
    /// - Throws: ``StartFailure`` with a line per mistake.
    static func settings(_ sources: SettingsSources) throws(StartFailure) -> Settings {
        let reader = SettingsReader(sources)
        guard reader.mistakes.isEmpty else {
            throw StartFailure(
                reader.mistakes.map { mistake in "setting \(mistake)" }.joined(separator: "\n"))
        }
        return reader.settings
    }

    /// Runs a command and gives its exit code; what goes wrong is one line per fault on the
    /// standard error.
    public static func run(_ work: () async throws -> Int32) async -> Int32 {
        do {
            return try await work()
        } catch {
            for line in "\(error)".split(separator: "\n") { tell("parley: \(line)") }
            return 1
        }
    }

    /// Writes a line for the person or the program that called, at once.
    static func say(_ line: String) {
        print(line)
        // A pipe would otherwise see the line when the process ends.
        fflush(nil)
    }

    /// Writes a line for the person who called, and not for a program that reads the output.
    static func tell(_ line: String, end: String = "\n") {
        let octets = Array("\(line)\(end)".utf8)
        // Holds because the array lives through the call; a terminal that is gone cannot be told.
        _ = unsafe write(2, octets, octets.count)
    }
}
