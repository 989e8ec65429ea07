import JSON

/// JSON, strictly as RFC 8259.
enum JSONTexts {
    static func check(_ input: [UInt8]) {
        guard let document = try? JSONDocument(input) else { return }
        let once = rewritten(document)
        guard let again = try? JSONDocument(once) else {
            fatalError("violated: a written text is read back")
        }
        invariant("a document is written the same again", rewritten(again) == once)
    }

    private static func rewritten(_ document: JSONDocument) -> [UInt8] {
        var writer = JSONWriter()
        write(document.root, to: &writer)
        return writer.finish()
    }

    private static func write(_ value: JSONValue, to writer: inout JSONWriter) {
        switch value.kind {
        case .null: writer.null()
        case .bool: writer.bool(value.bool == true)
        case .number: writeNumber(value, to: &writer)
        case .string:
            let text = value.utf8 ?? []
            invariant(
                "both ways to read a text agree", value.string.map { Array($0.utf8) } == Array(text)
            )
            writer.string(utf8: text)
        case .array:
            writer.array { writer in
                for element in value.elements { write(element, to: &writer) }
            }
        case .object:
            writer.object { writer in
                for (name, member) in value.members {
                    invariant("a member is found by its name", value[name]?.offset == member.offset)
                    writer.key(name)
                    write(member, to: &writer)
                }
            }
        }
    }

    private static func writeNumber(_ value: JSONValue, to writer: inout JSONWriter) {
        if let integer = value.integer {
            writer.integer(integer)
        } else if let double = value.double {
            writer.double(double)
        } else {
            writer.raw(value.raw)
        }
    }
}
