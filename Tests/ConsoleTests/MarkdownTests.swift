import Testing

@testable import Console

@Suite struct `Markdown` {
    /// A document and its HTML.
    struct MarkdownCase: Sendable, CustomTestStringConvertible {
        let markdown: String
        let html: String

        init(_ markdown: String, _ html: String) {
            self.markdown = markdown
            self.html = html
        }

        var testDescription: String { markdown }
    }

    static let cases = [
        MarkdownCase("# A title", "<h1 id=\"a-title\">A title</h1>\n"),
        MarkdownCase(
            "## Read `x_y`, twice\n## Read `x_y`, twice",
            """
            <h2 id="read-x_y-twice">Read <code>x_y</code>, twice<a class="anchor" href="#read-x_y-twice" \
            aria-label="Link to “Read x_y, twice”">#</a></h2>
            <h2 id="read-x_y-twice-1">Read <code>x_y</code>, twice<a class="anchor" href="#read-x_y-twice-1" \
            aria-label="Link to “Read x_y, twice”">#</a></h2>

            """),
        MarkdownCase("one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>\n"),
        MarkdownCase("a <= b & c > \"d\"", "<p>a &lt;= b &amp; c &gt; &quot;d&quot;</p>\n"),
        MarkdownCase(
            "*a* **b `c*`** _d_",
            "<p><em>a</em> <strong>b <code>c*</code></strong> <em>d</em></p>\n"),
        MarkdownCase("snake_case_name, 2 * 3 * 4", "<p>snake_case_name, 2 * 3 * 4</p>\n"),
        MarkdownCase("***", "<hr>\n"),
        MarkdownCase("*open and **open", "<p>*open and **open</p>\n"),
        MarkdownCase("\\*no\\* \\`no\\`", "<p>*no* `no`</p>\n"),
        MarkdownCase("``Symbol`` and `` ` ``", "<p><code>Symbol</code> and <code>`</code></p>\n"),
        MarkdownCase("`unclosed", "<p>`unclosed</p>\n"),
        MarkdownCase("a  \nb\\\nc", "<p>a<br>b<br>c</p>\n"),
        MarkdownCase(
            "[a `]` b](https://example.com/x) <https://example.com>",
            """
            <p><a href="https://example.com/x" rel="noopener noreferrer">a <code>]</code> b</a> \
            <a href="https://example.com" rel="noopener noreferrer">https://example.com</a></p>

            """),
        MarkdownCase("<doc:Other#part>", "<p><a href=\"/docs/other#part\">The other</a></p>\n"),
        MarkdownCase("- a\n- b\n  continued\n", "<ul><li>a</li><li>b\ncontinued</li></ul>\n"),
        MarkdownCase(
            "- a\n\n- b\n\n  second\n  - inner\n    - third\n\nafter",
            "<ul><li>a</li><li>b<p>second</p>\n<ul><li>inner<ul><li>third</li></ul>\n</li></ul>\n</li></ul>\n<p>after</p>\n"
        ),
        MarkdownCase("3. c\n4. d", "<ol start=\"3\"><li>c</li><li>d</li></ol>\n"),
        MarkdownCase("in\n2026. a year", "<p>in\n2026. a year</p>\n"),
        MarkdownCase(
            "```sh\na <b>\n\n  c\n```",
            "<pre class=\"code\" tabindex=\"0\" data-language=\"sh\"><code>a &lt;b&gt;\n\n  c\n</code></pre>\n"
        ),
        MarkdownCase(
            "- a\n  ```\n  b\n  ```",
            "<ul><li>a<pre class=\"code\" tabindex=\"0\"><code>b\n</code></pre>\n</li></ul>\n"),
        MarkdownCase(
            "| a | b |\n|---|--:|\n| `x\\|y` | 1 |",
            """
            <div class="table" tabindex="0"><table><thead><tr><th>a</th><th class="right">b</th></tr></thead>\
            <tbody><tr><td><code>x|y</code></td><td class="right">1</td></tr></tbody></table></div>

            """),
        MarkdownCase("> a\n> b", "<blockquote><p>a\nb</p>\n</blockquote>\n"),
        MarkdownCase(
            "> Warning: a\n> b",
            "<aside class=\"warning\"><strong>Warning</strong><p>a\nb</p>\n</aside>\n"),
        MarkdownCase("<!-- a\nb --> \nc", "<p>c</p>\n"),
        MarkdownCase("@Metadata {\n  x\n}\nc", "<p>c</p>\n"),
    ]

    @Test(arguments: cases) func `becomes HTML`(example: MarkdownCase) throws {
        #expect(try Self.html(example.markdown) == example.html)
    }

    @Test(arguments: [
        ("a\n\n<b>c</b>", 3), ("a <script>alert(1)</script>", 1),
        ("<img src=x onerror=alert(1)>", 1),
        ("@TabNavigator {\n}", 1), ("##### five", 1), ("a\n\n```\nopen", 3), ("    code", 1),
        ("| a |\n| b |", 1), ("| a |\n|---|\n| b | c |", 3), ("<!-- open", 1),
        ("- a\n  - b\n    - c\n      - d", 4),
    ]) func `outside of the subset is refused with its line`(markdown: String, line: Int) {
        #expect { try MarkdownDocument(markdown) } throws: { error in
            (error as? MarkdownError)?.line == line
        }
    }

    @Test(arguments: [
        "<doc:Missing>", "[a](javascript:alert(1))", "[a](other.md)", "[a](//example.com)",
        "![a](https://example.com/a.svg)", "[a](data:text/html,x)",
    ]) func `links lead to pages of the server or the web`(markdown: String) {
        #expect(throws: HTMLRenderer.DeadLink.self) { try Self.html(markdown) }
    }

    @Test func `of random characters has no other tags and escapes every text`() throws {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "<", ">", "&", "\"", "'", "`", "``", "*", "**", "_", "[", "](", ")", "!", "\\", "|",
            "\n",
            "\n\n", "- ", "1. ", "> ", "# ", "```\n", "  ", "<script>", "javascript:", "doc:", "a",
            "é",
        ]
        var rendered = 0
        for _ in 0..<4000 {
            let text = (0..<Int.random(in: 1...30, using: &generator)).map { _ in
                pieces.randomElement(using: &generator) ?? ""
            }.joined()
            guard let html = try? Self.html(text) else { continue }
            rendered += 1
            #expect(Self.tags(of: html).isSubset(of: Self.allowed), "\(text.debugDescription)")
            #expect(!html.contains("href=\"javascript"), "\(text.debugDescription)")
        }
        #expect(rendered > 400)
    }

    /// The names of all elements that the renderer writes.
    private static let allowed: Set<String> = [
        "h1", "h2", "h3", "h4", "p", "ul", "ol", "li", "pre", "code", "div", "table", "thead",
        "tbody",
        "tr", "th", "td", "blockquote", "aside", "strong", "em", "a", "br", "hr", "img",
    ]

    private static func tags(of html: String) -> Set<String> {
        Set(
            html.split(separator: "<").dropFirst(html.hasPrefix("<") ? 0 : 1).map { part in
                String(part.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber })
            })
    }

    private static func html(_ markdown: String) throws -> String {
        let renderer = HTMLRenderer { name in
            name == "Other" ? ("/docs/other", "The other") : nil
        }
        return try renderer.html(MarkdownDocument(markdown).blocks).string
    }
}
