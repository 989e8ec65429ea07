import FoundationEssentials

/// One `.http` file: exchanges in sequence with a new application.
///
/// ```
/// # versions: 1.0 1.1
/// ### A conversation is read (5.1.2)
/// GET /apps/{app}/conversations/{C}
/// Accept: application/vnd.layer+json; version={version}
/// ---
/// 200
/// Content-Type: application/json; charset=UTF-8
///
/// {"id":"layer:///conversations/{C}" …}
/// ```
///
/// Below the line are the status, `+ type` for each recorded event in order, the required headers,
/// `!Name` for headers that must be absent, and the whole body, without regard to white space between
/// JSON tokens. An exchange without events must cause none.
///
/// In a file of sockets and streams, `OPEN bo /websocket` opens one and names it, and `SEND bo` sends the body as a packet,
/// which has no status. What they receive follows below the body, each after a line `< bo`: the packet of a socket,
/// the lines of an event of a stream, or `close` with the code.
struct ExchangeFile: Sendable, CustomStringConvertible {
    struct ParseError: Error {
        let text: String
    }

    let name: String
    let versions: [String]
    let exchanges: [Exchange]

    var description: String { name }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Exchanges")

    /// All files by name; read once, because each case uses them.
    static func all() throws -> [ExchangeFile] { try read.get() }

    private static let read = Result { try files(in: folder) }

    /// The files of sockets and streams.
    static func live() throws -> [ExchangeFile] { try files(in: folder.appending(path: "Live")) }

    private static func files(in folder: URL) throws -> [ExchangeFile] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".http") }.sorted()
            .map { name in
                let bytes = try Data(contentsOf: folder.appending(path: name))
                return try ExchangeFile(name: name, text: String(decoding: bytes, as: UTF8.self))
            }
    }

    init(name: String, text: String) throws {
        self.name = name
        let sections = ("\n" + text).components(separatedBy: "\n### ")
        versions = sections[0].split(separator: "\n").filter { $0.hasPrefix("# versions:") }
            .flatMap { $0.dropFirst("# versions:".count).split(separator: " ").map(String.init) }
        exchanges = try sections.dropFirst().map(Exchange.init(section:))
    }
}

/// One request and its expected response.
struct Exchange: Sendable {
    let title: String
    let request: PlainRequest
    let status: Int
    let events: [String]
    let fields: [(name: String, value: String)]
    let absentFields: [String]
    let body: String
    /// What sockets and streams receive, with their names.
    let received: [(name: String, text: String)]

    init(section: String) throws {
        let lines = section.components(separatedBy: "\n")
        title = lines[0]
        guard let line = lines.firstIndex(of: "---") else {
            throw ExchangeFile.ParseError(text: "no line of dashes in \(title)")
        }
        let above = HeadAndBody(lines[1..<line])
        let below = HeadAndBody(lines[(line + 1)...])
        let start = above.head[0].split(separator: " ", maxSplits: 1).map(String.init)
        let status =
            start[0] == "SEND" ? PlainAnswer.none.status : below.head.first.flatMap { Int($0) }
        guard start.count == 2, let status else {
            throw ExchangeFile.ParseError(text: "no request line or no status in \(title)")
        }
        request = PlainRequest(
            method: start[0], target: start[1],
            fields: above.head.dropFirst().map(field), body: above.body)
        self.status = status
        events = below.head.filter { $0.hasPrefix("+ ") }.map { String($0.dropFirst(2)) }
        fields = below.head.dropFirst().filter { !$0.hasPrefix("!") && !$0.hasPrefix("+ ") }
            .map(field)
        absentFields = below.head.filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) }
        let texts = "\n\(below.body)".components(separatedBy: "\n< ")
        body = texts[0].withoutInsignificantSpace
        received = texts.dropFirst().map { text in
            let name = text.prefix { character in character != "\n" }
            return (String(name), text.dropFirst(name.count).description.withoutInsignificantSpace)
        }
    }
}

/// A request as text, before it becomes a value or bytes on a socket.
struct PlainRequest: Sendable {
    var method: String
    var target: String
    var fields: [(name: String, value: String)]
    var body: String
    /// Sent in place of the body, for bytes that are not text.
    var bytes: [UInt8]?

    /// The bytes after the head.
    var content: [UInt8] { bytes ?? Array(body.utf8) }
}

/// A response as text.
struct PlainAnswer: Sendable {
    /// What is answered to a packet.
    static let none = PlainAnswer(status: 0, fields: [], body: "")

    var status: Int
    var fields: [(name: String, value: String)]
    var body: String

    subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

private struct HeadAndBody {
    let head: [String]
    let body: String

    init(_ lines: ArraySlice<String>) {
        let blank = lines.firstIndex(of: "") ?? lines.endIndex
        head = Array(lines[..<blank])
        body = lines[blank...].dropFirst().joined(separator: "\n").trimmed
    }
}

private func field(_ line: String) -> (name: String, value: String) {
    let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
    return (parts[0], parts.count == 2 ? parts[1].trimmed : "")
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        while text.first?.isWhitespace == true { text.removeFirst() }
        return String(text)
    }

    /// Without the white space between JSON tokens.
    var withoutInsignificantSpace: String {
        var isQuoted = false
        var isEscaped = false
        return String(
            unicodeScalars.filter { scalar in
                if isEscaped {
                    isEscaped = false
                    return true
                }
                if isQuoted && scalar == "\\" { isEscaped = true }
                if scalar == "\"" { isQuoted.toggle() }
                return isQuoted || scalar == "\"" || !scalar.properties.isWhitespace
            }.reduce(into: String.UnicodeScalarView()) { $0.append($1) })
    }
}
