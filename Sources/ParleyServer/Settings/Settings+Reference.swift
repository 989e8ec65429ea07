import JSON

extension Settings {
    /// `Config/parley.json`: every setting with its default, in the order of the table.
    static var defaultFile: String {
        var lines: [String] = []
        var group = ""
        for setting in table {
            let parts = setting.key.split(separator: ".").map(String.init)
            let newGroup = parts.count > 1 ? parts[0] : ""
            if newGroup != group {
                if !group.isEmpty { close(&lines) }
                if !newGroup.isEmpty { lines.append("  \"\(newGroup)\": {") }
                group = newGroup
            }
            var writer = JSONWriter()
            setting.writeDefault(to: &writer)
            let indent = group.isEmpty ? "  " : "    "
            lines.append(
                "\(indent)\"\(parts[parts.count - 1])\": \(String(decoding: writer.bytes, as: UTF8.self)),"
            )
        }
        if !group.isEmpty { close(&lines) }
        dropComma(&lines)
        return "{\n" + lines.joined(separator: "\n") + "\n}\n"
    }

    /// The table of the article Settings.
    static var markdownTable: String {
        let rows = table.map { setting in
            let value = setting.shown(in: Settings())
            return
                "| `\(setting.key)` | \(value.isEmpty ? "none" : "`\(value)`") | `\(setting.environmentName)` | \(setting.help)\(setting.isFixed ? " †" : "") |"
        }
        return (["| Setting | Default | Environment | What it does |", "|---|---|---|---|"] + rows)
            .joined(separator: "\n")
    }

    private static func close(_ lines: inout [String]) {
        dropComma(&lines)
        lines.append("  },")
    }

    private static func dropComma(_ lines: inout [String]) {
        lines[lines.count - 1].removeLast()
    }
}
