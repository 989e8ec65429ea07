/// Names of environment variables that begin with `PARLEY_`.
enum VariableName {
    /// Whether a variable is none of ours: one of the tests, or one that Kubernetes gives every container
    /// for a service whose name begins with `parley`.
    static func isForeign(_ name: String, _ value: String) -> Bool {
        name.hasPrefix("PARLEY_TEST_") || name == "PARLEY_PORT"
            || name.hasPrefix("PARLEY_SERVICE_") || name.contains("_PORT_")
            || name.contains("_SERVICE_HOST") || name.contains("_SERVICE_PORT")
            || name.hasSuffix("_PORT") && value.contains("://")
    }

    /// The known name that differs from a name in the fewest letters.
    static func nearest(to name: String, of known: [String]) -> String {
        // No known name is longer; the process that starts ours chooses how long a name is.
        let start = Array(name.utf8.prefix(64))
        let distances = known.map { other in (name: other, distance(start, Array(other.utf8))) }
        return distances.min { one, other in one.1 < other.1 }?.name ?? ""
    }

    /// How many letters must be inserted, removed or replaced to get from one name to the other.
    private static func distance(_ name: [UInt8], _ other: [UInt8]) -> Int {
        var row = Array(0...other.count)
        for (index, letter) in name.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, expected) in other.enumerated() {
                let replaced = diagonal + (letter == expected ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.count]
    }
}
