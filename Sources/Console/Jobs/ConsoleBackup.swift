/// Copies the embedded database and all contents into folders, for the jobs of the console.
public struct ConsoleBackup: Sendable {
    /// The folder that the backups are in.
    let folder: String
    /// Makes a backup.
    let run: @Sendable (_ folder: String, _ progress: @escaping Progress) async throws -> Result

    /// Called with the bytes copied and the total.
    public typealias Progress = @Sendable (Int64, Int64) -> Void

    /// A complete backup.
    public struct Result: Sendable {
        /// The number of contents.
        public let contents: Int64
        /// The number of bytes of the database and the contents.
        public let bytes: Int64

        /// Both members.
        public init(contents: Int64, bytes: Int64) {
            self.contents = contents
            self.bytes = bytes
        }
    }

    /// Why a backup failed, as a sentence for operators.
    public struct Failure: Error {
        /// The sentence.
        public let message: String

        /// Creates a failure.
        public init(_ message: String) { self.message = message }
    }

    /// - Parameters:
    ///   - folder: The setting `console.backup_folder`.
    ///   - run: Makes a backup in a folder, which it creates; for a folder of an interrupted backup it continues. It may
    ///     block, and ends soon after its task is cancelled. It throws ``Failure`` for what operators can correct.
    public init(
        in folder: String,
        run:
            @escaping @Sendable (_ folder: String, _ progress: @escaping Progress) async throws ->
            Result
    ) {
        self.folder = folder
        self.run = run
    }
}
