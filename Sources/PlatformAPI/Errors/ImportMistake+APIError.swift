import Messaging
import MessagingWire

extension APIError {
    /// A line of an import that cannot be brought (X10): 400 where it cannot be read.
    init(_ mistake: ImportMistake) {
        let field = mistake.mistake.field
        self.init(
            field == nil ? .invalidRequest : .invalidProperty,
            mistake.sentence,
            data: .line(mistake.line, property: field))
    }
}

extension ImportMistake {
    fileprivate var sentence: String {
        "Line \(line): \(mistake)." + (line > 1 ? " The lines before it are durable." : "")
    }
}
