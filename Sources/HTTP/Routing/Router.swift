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

/// What stands in the holes of a path, by their names.
///
/// A path has a few of them, so they are looked through: making a dictionary at each request cost more
/// than all its look-ups.
public struct PathParameters: Equatable, Sendable {
    private let names: [String]
    private let values: [String]

    init(_ names: [String], _ values: [String]) {
        self.names = names
        self.values = values
    }

    /// What stands in a hole, decoded; `nil` where the path has no such hole.
    public subscript(name: String) -> String? {
        names.firstIndex(of: name).map { place in values[place] }
    }
}

extension PathParameters: ExpressibleByDictionaryLiteral {
    /// Holes and what stands in them, in the order of the path.
    public init(dictionaryLiteral holes: (String, String)...) {
        self.init(holes.map(\.0), holes.map(\.1))
    }
}

/// Finds what a table of endpoints says about a method and a path.
///
/// Paths are compared by bytes and with case (H63); empty segments match nothing (H62), except that
/// one trailing slash on a path may be allowed by the table. `HEAD` is offered wherever `GET` is
/// (H65).
public struct Router<Handler: Sendable>: Sendable {
    /// What a look-up found.
    public enum Match: Sendable {
        /// A handler, with the path's parameters by name.
        case found(Handler, template: PathTemplate, parameters: PathParameters)
        /// The path exists, not with this method; the methods it offers, for `Allow`.
        case otherMethods(template: PathTemplate, allowed: [Method])
        /// No such path.
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

    /// An empty table.
    ///
    /// - Parameter allowsTrailingSlash: Whether `/conversations/` names what `/conversations` names.
    public init(allowsTrailingSlash: Bool = false) {
        self.allowsTrailingSlash = allowsTrailingSlash
    }

    /// Adds an endpoint; a second one for the same method and path replaces the first.
    public mutating func add(_ method: Method, _ template: PathTemplate, _ handler: Handler) {
        var place = 0
        for segment in template.segments { place = child(of: place, segment) }
        nodes[place].template = template
        nodes[place].handlers.removeAll { entry in entry.method == method }
        nodes[place].handlers.append((method, handler))
    }

    /// Looks a request up.
    public func match(_ method: Method, _ target: RequestTarget) -> Match {
        var segments: [String]
        do { segments = try target.segments() } catch { return .fault(error) }
        if allowsTrailingSlash, segments.last?.isEmpty == true { segments.removeLast() }
        var captured: [String] = []
        guard let place = find(segments, 0, from: 0, &captured),
            let template = nodes[place].template
        else { return .unknown }
        let wanted = method == .head ? .get : method
        guard
            let entry = nodes[place].handlers.first(where: { entry in entry.method == method })
                ?? nodes[place].handlers.first(where: { entry in entry.method == wanted })
        else { return .otherMethods(template: template, allowed: allowed(at: place)) }
        return .found(
            entry.handler, template: template,
            parameters: PathParameters(template.parameterNames, captured))
    }

    /// The methods a path offers, `HEAD` and `OPTIONS` included, in the order of ``Method``.
    private func allowed(at place: Int) -> [Method] {
        let offered = Set(nodes[place].handlers.map(\.method))
        return Method.allCases.filter { method in
            offered.contains(method) || method == .options
                || method == .head && offered.contains(.get)
        }
    }

    /// The node of a path whose first segments are used, literals before parameters.
    private func find(
        _ segments: [String], _ used: Int, from place: Int, _ captured: inout [String]
    ) -> Int? {
        guard used < segments.count else { return nodes[place].handlers.isEmpty ? nil : place }
        let segment = segments[used]
        for literal in nodes[place].literals where isSame(literal.text, segment) {
            if let found = find(segments, used + 1, from: literal.node, &captured) { return found }
        }
        guard !segment.isEmpty, let parameter = nodes[place].parameter else { return nil }
        captured.append(segment)
        if let found = find(segments, used + 1, from: parameter.node, &captured) { return found }
        captured.removeLast()
        return nil
    }

    /// Byte by byte: `==` of strings would let canonical equivalents in.
    private func isSame(_ left: String, _ right: String) -> Bool {
        let (ours, theirs) = (left.utf8, right.utf8)
        let bytes = ours.span
        let others = theirs.span
        guard bytes.count == others.count else { return false }
        for place in bytes.indices where bytes[place] != others[place] { return false }
        return true
    }

    private mutating func child(of place: Int, _ segment: PathTemplate.Segment) -> Int {
        switch segment {
        case .literal(let text):
            if let known = nodes[place].literals.first(where: { entry in entry.text == text }) {
                return known.node
            }
            nodes.append(Node())
            nodes[place].literals.append((text, nodes.count - 1))
        case .parameter(let name):
            if let known = nodes[place].parameter { return known.node }
            nodes.append(Node())
            nodes[place].parameter = (name, nodes.count - 1)
        }
        return nodes.count - 1
    }
}
