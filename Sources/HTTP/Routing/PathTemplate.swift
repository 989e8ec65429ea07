/// A path with named holes, such as `/apps/{app}/conversations/{conversation}`.
public struct PathTemplate: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible
{
    /// One part of the path.
    enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
    }

    /// The template as it was written.
    public let description: String
    let segments: [Segment]
    /// The names of the holes, in order.
    public let parameterNames: [String]

    /// Reads a template; segments in braces are parameters.
    public init(_ text: String) {
        description = text
        segments = text.split(separator: "/").map { segment in
            segment.first == "{" && segment.last == "}"
                ? .parameter(String(segment.dropFirst().dropLast())) : .literal(String(segment))
        }
        parameterNames = segments.compactMap { segment in
            if case .parameter(let name) = segment { name } else { nil }
        }
    }

    /// A template as a literal.
    public init(stringLiteral text: String) { self.init(text) }
}
