/// Writes the HTML of a document.
struct HTMLRenderer {
    private typealias Inline = MarkdownDocument.Inline

    /// Returns the address and the title of an article; `nil` when there is none of that name.
    let article: (_ name: String) -> (path: String, title: String)?

    /// A link to something that does not exist.
    struct DeadLink: Error, Equatable, CustomStringConvertible {
        let target: String

        var description: String { "there is no \(target)" }
    }

    /// Writes blocks.
    func html(_ blocks: [MarkdownDocument.Block]) throws -> HTMLText {
        var html = HTMLText()
        for block in blocks { try write(block, to: &html) }
        return html
    }

    /// Writes inline parts.
    func html(_ inlines: [MarkdownDocument.Inline]) throws -> HTMLText {
        var html = HTMLText()
        try write(inlines, to: &html)
        return html
    }

    private func write(_ block: MarkdownDocument.Block, to html: inout HTMLText) throws {
        switch block {
        case .heading(let level, let inlines, let anchor):
            let names: [StaticString] = ["h1", "h2", "h3", "h4"]
            try html.element(names[level - 1], [("id", anchor)]) { html in
                try write(inlines, to: &html)
                guard level > 1 else { return }
                html.element(
                    "a",
                    [
                        ("class", "anchor"), ("href", "#\(anchor)"),
                        ("aria-label", "Link to “\(inlines.plainText)”"),
                    ], text: "#")
            }
        case .paragraph(let inlines):
            try html.element("p") { html in try write(inlines, to: &html) }
        case .list(let start, let items): try writeList(start, items, to: &html)
        case .code(let language, let text):
            var attributes: [(name: StaticString, value: String)] = [
                ("class", "code"), ("tabindex", "0"),
            ]
            if !language.isEmpty { attributes.append(("data-language", language)) }
            html.element("pre", attributes) { html in html.element("code", text: text) }
        case .table(let header, let alignments, let rows):
            try html.element("div", [("class", "table"), ("tabindex", "0")]) { html in
                try html.element("table") { html in
                    try html.element("thead") { html in
                        try writeRow(header, "th", alignments, to: &html)
                    }
                    try html.element("tbody") { html in
                        for row in rows { try writeRow(row, "td", alignments, to: &html) }
                    }
                }
            }
        case .quote(let blocks):
            try html.element("blockquote") { html in html.append(try self.html(blocks)) }
        case .aside(let kind, let blocks):
            try html.element("aside", [("class", kind.lowercased())]) { html in
                html.element("strong", text: kind)
                html.append(try self.html(blocks))
            }
        case .rule: html.open("hr")
        }
        html.markup("\n")
    }

    private func writeList(
        _ start: Int?, _ items: [[MarkdownDocument.Block]], to html: inout HTMLText
    ) throws {
        let attributes: [(name: StaticString, value: String)] =
            start.map { $0 == 1 ? [] : [("start", "\($0)")] } ?? []
        try html.element(start == nil ? "ul" : "ol", attributes) { html in
            for item in items {
                try html.element("li") { html in
                    // A single paragraph needs no element.
                    if case .paragraph(let inlines)? = item.first {
                        try write(inlines, to: &html)
                        html.append(try self.html(Array(item.dropFirst())))
                    } else {
                        html.append(try self.html(item))
                    }
                }
            }
        }
    }

    private func writeRow(
        _ cells: [[Inline]], _ name: StaticString, _ alignments: [MarkdownDocument.Alignment],
        to html: inout HTMLText
    ) throws {
        try html.element("tr") { html in
            for (cell, alignment) in zip(cells, alignments) {
                let attributes: [(name: StaticString, value: String)] =
                    switch alignment {
                    case .none, .left: []
                    case .center: [("class", "center")]
                    case .right: [("class", "right")]
                    }
                try html.element(name, attributes) { html in try write(cell, to: &html) }
            }
        }
    }

    private func write(_ inlines: [Inline], to html: inout HTMLText) throws {
        for inline in inlines {
            switch inline {
            case .text(let text): html.text(text)
            case .code(let text): html.element("code", text: text)
            case .emphasis(let inner):
                try html.element("em") { html in try write(inner, to: &html) }
            case .strong(let inner):
                try html.element("strong") { html in try write(inner, to: &html) }
            case .link(let inner, let target):
                try html.element("a", try attributes(target)) { html in
                    try write(inner, to: &html)
                }
            case .article(let name, let anchor):
                guard let (path, title) = article(name) else {
                    throw DeadLink(target: "article \(name)")
                }
                let fragment = anchor.map { "#\($0)" } ?? ""
                html.element("a", [("href", path + fragment)], text: title)
            case .image(let alternative, let source):
                guard source.hasPrefix("/console/assets/"), source.hasSuffix(".svg") else {
                    throw DeadLink(target: "image \(source)")
                }
                html.open("img", [("src", source), ("alt", alternative)])
            case .lineBreak: html.open("br")
            }
        }
    }

    /// Links lead to the web, to a path of this server, or to a section of the same page.
    private func attributes(
        _ target: String
    ) throws(DeadLink) -> [(name: StaticString, value: String)] {
        if target.hasPrefix("https://") || target.hasPrefix("http://") {
            return [("href", target), ("rel", "noopener noreferrer")]
        }
        guard target.hasPrefix("#") || target.hasPrefix("/") && !target.hasPrefix("//") else {
            throw DeadLink(target: "page \(target)")
        }
        return [("href", target)]
    }
}
