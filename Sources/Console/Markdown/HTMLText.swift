/// HTML that is written piece by piece: every text is escaped, and only literals of the source are markup.
struct HTMLText: Sendable {
    /// The HTML so far.
    private(set) var string = ""

    /// Appends markup.
    mutating func markup(_ markup: StaticString) { string += markup.description }

    /// Appends HTML that was written before.
    mutating func append(_ other: HTMLText) { string += other.string }

    /// Appends text, which is escaped also for attributes.
    mutating func text(_ text: String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": string += "&amp;"
            case "<": string += "&lt;"
            case ">": string += "&gt;"
            case "\"": string += "&quot;"
            case "'": string += "&#39;"
            default: string.unicodeScalars.append(scalar)
            }
        }
    }

    /// Appends an element with attributes and a content.
    mutating func element(
        _ name: StaticString, _ attributes: [(name: StaticString, value: String)] = [],
        _ content: (inout HTMLText) throws -> Void
    ) rethrows {
        open(name, attributes)
        try content(&self)
        string += "</\(name)>"
    }

    /// Appends an element that contains only text.
    mutating func element(
        _ name: StaticString, _ attributes: [(name: StaticString, value: String)] = [],
        text: String
    ) {
        element(name, attributes) { html in html.text(text) }
    }

    /// Appends a start tag, for elements without an end tag.
    mutating func open(
        _ name: StaticString, _ attributes: [(name: StaticString, value: String)] = []
    ) {
        string += "<\(name)"
        for (name, value) in attributes {
            string += " \(name)=\""
            text(value)
            string += "\""
        }
        string += ">"
    }
}
