import Messaging

extension Sequence {
    /// The order in which JavaScript keeps members: array indices ascending, then the rest as they
    /// came (webhooks §3.2).
    func inMemberOrder(by name: (Element) -> String) -> [Element] {
        let named = map { element in (index: arrayIndex(name(element)), element: element) }
        let indices = named.filter { $0.index != nil }.sorted { ($0.index ?? 0) < ($1.index ?? 0) }
        return (indices + named.filter { $0.index == nil }).map(\.element)
    }
}

/// The number of a canonical array index: decimal without leading zeros, below 2³² − 1.
private func arrayIndex(_ name: String) -> UInt32? {
    guard name.utf8.first != UInt8(ascii: "+"), let index = UInt32(name), index < .max,
        String(index).utf8.elementsEqual(name.utf8)
    else { return nil }
    return index
}

extension MetadataTree {
    /// The same tree with the members of each object in that order.
    var inMemberOrder: MetadataTree {
        switch self {
        case .text: return self
        case .object(let members):
            return .object(
                members.inMemberOrder(by: \.key).map { member in
                    Member(key: member.key, value: member.value.inMemberOrder)
                })
        }
    }
}
