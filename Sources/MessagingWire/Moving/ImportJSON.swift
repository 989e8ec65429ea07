public import JSON
public import Messaging

/// What of an import has come: `{"lines":12,"changed":true,"merged":0,"records":[{"record":"user",
/// "brought":2,"present":0}, …]}` (X10).
public enum ImportJSON {
    /// Writes the object.
    public static func write(_ tally: ImportTally, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("lines", tally.lines)
            writer.member("changed", tally.hasChanged)
            writer.member("merged", tally.merged)
            writer.key("records")
            writer.array { writer in
                for count in tally.counts {
                    writer.object { writer in
                        writer.kind(count.kind)
                        writer.member("brought", count.brought)
                        writer.member("present", count.present)
                    }
                }
            }
        }
    }

    private static let count = JSONSchema.integer(0 ... .max)

    /// The object.
    public static let schema = JSONSchema.named(
        "Import",
        .object([
            .required("lines", count.saying("How many lines there were.")),
            .required("changed", JSONSchema.boolean.saying("Whether anything is not as before.")),
            .required(
                "merged", count.saying("Conversations that became one with one that was here.")),
            .required(
                "records",
                .array(
                    of: .object([
                        .required("record", .choice(MovedKind.allCases.map(\.rawValue))),
                        .required("brought", count),
                        .required("present", count.saying("There already, or deleted since.")),
                    ]))),
        ]))
}
