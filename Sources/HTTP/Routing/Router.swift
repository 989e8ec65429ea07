/// A path with named parameters, such as `/apps/{app}/conversations/{conversation}`.
public struct PathTemplate: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible
{
    /// One segment of the path.
    fileprivate enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
    }

    /// The template as written.
    public let description: String
    fileprivate let segments: [Segment]
    /// The names of the parameters, in order.
    public let parameterNames: [String]

    /// Parses a template; segments in braces are parameters.
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

    /// Makes a template of a literal.
    public init(stringLiteral text: String) { self.init(text) }
}

/// The parameters of a path by their names.
///
/// Searched linearly: a path has few parameters, and making a dictionary per request would cost
/// more than all lookups.
public struct PathParameters: Equatable, Sendable {
    private let names: [String]
    private let values: [String]

    init(_ names: [String], _ values: [String]) {
        self.names = names
        self.values = values
    }

    /// The decoded value of a parameter; `nil` when the path has none of that name.
    public subscript(name: String) -> String? {
        names.firstIndex(of: name).map { index in values[index] }
    }
}

extension PathParameters: ExpressibleByDictionaryLiteral {
    /// Makes parameters of names and values, in the order of the path.
    public init(dictionaryLiteral holes: (String, String)...) {
        self.init(holes.map(\.0), holes.map(\.1))
    }
}

/// A table of endpoints by method and path.
///
/// Paths are compared by bytes and with case (H63); empty segments match nothing (H62), except that
/// the table may allow one trailing slash. `HEAD` is allowed wherever `GET` is (H65).
public struct Router<Handler: Sendable>: Sendable {
    /// The result of a lookup.
    public enum Match: Sendable {
        /// A handler, with the path's parameters.
        case found(Handler, template: PathTemplate, parameters: PathParameters)
        /// The path exists but not with this method; `allowed` are its methods, for `Allow`.
        case otherMethods(template: PathTemplate, allowed: [Method])
        /// The path does not exist.
        case unknown
        /// The path cannot be decoded: 400 or 414, the connection is kept.
        case fault(RequestTarget.Fault)
    }

    private struct Node: Sendable {
        var literals: [(text: String, node: Int)] = []
        var parameter: (name: String, node: Int)?
        var template: PathTemplate?
        var handlers: [(method: Method, handler: Handler)] = []
    }

    private var nodes: [Node] = [Node()]
    private let allowsTrailingSlash: Bool

    /// Makes an empty table.
    ///
    /// - Parameter allowsTrailingSlash: Whether `/conversations/` is the same as `/conversations`.
    public init(allowsTrailingSlash: Bool = false) {
        self.allowsTrailingSlash = allowsTrailingSlash
    }

    /// Adds an endpoint, replacing one for the same method and path.
    public mutating func add(_ method: Method, _ template: PathTemplate, _ handler: Handler) {
        var node = 0
        for segment in template.segments { node = child(of: node, segment) }
        nodes[node].template = template
        nodes[node].handlers.removeAll { entry in entry.method == method }
        nodes[node].handlers.append((method, handler))
    }

    /// Looks up a method and a target.
    public func match(_ method: Method, _ target: RequestTarget) -> Match {
        var segments: [String]
        do { segments = try target.segments() } catch { return .fault(error) }
        if allowsTrailingSlash, segments.last?.isEmpty == true { segments.removeLast() }
        var captured: [String] = []
        guard let node = find(segments, 0, from: 0, &captured),
            let template = nodes[node].template
        else { return .unknown }
        let fallback = method == .head ? .get : method
        guard
            let entry = nodes[node].handlers.first(where: { entry in entry.method == method })
                ?? nodes[node].handlers.first(where: { entry in entry.method == fallback })
        else { return .otherMethods(template: template, allowed: allowed(at: node)) }
        return .found(
            entry.handler, template: template,
            parameters: PathParameters(template.parameterNames, captured))
    }

    /// The methods of a path, including `HEAD` and `OPTIONS`, in the order of ``Method``.
    private func allowed(at node: Int) -> [Method] {
        let offered = Set(nodes[node].handlers.map(\.method))
        return Method.allCases.filter { method in
            offered.contains(method) || method == .options
                || method == .head && offered.contains(.get)
        }
    }

    /// Finds the node of a path after its first `used` segments; literals precede parameters.
    private func find(
        _ segments: [String], _ used: Int, from node: Int, _ captured: inout [String]
    ) -> Int? {
        guard used < segments.count else { return nodes[node].handlers.isEmpty ? nil : node }
        let segment = segments[used]
        for literal in nodes[node].literals where isSame(literal.text, segment) {
            if let found = find(segments, used + 1, from: literal.node, &captured) { return found }
        }
        guard !segment.isEmpty, let parameter = nodes[node].parameter else { return nil }
        captured.append(segment)
        if let found = find(segments, used + 1, from: parameter.node, &captured) { return found }
        captured.removeLast()
        return nil
    }

    /// Compared byte by byte, because `==` of strings treats canonical equivalents as equal.
    private func isSame(_ left: String, _ right: String) -> Bool {
        let (ours, theirs) = (left.utf8, right.utf8)
        let bytes = ours.span
        let others = theirs.span
        guard bytes.count == others.count else { return false }
        for index in bytes.indices where bytes[index] != others[index] { return false }
        return true
    }

    private mutating func child(of node: Int, _ segment: PathTemplate.Segment) -> Int {
        switch segment {
        case .literal(let text):
            if let known = nodes[node].literals.first(where: { entry in entry.text == text }) {
                return known.node
            }
            nodes.append(Node())
            nodes[node].literals.append((text, nodes.count - 1))
        case .parameter(let name):
            if let known = nodes[node].parameter { return known.node }
            nodes.append(Node())
            nodes[node].parameter = (name, nodes.count - 1)
        }
        return nodes.count - 1
    }
}
