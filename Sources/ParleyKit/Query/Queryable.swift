/// A type that queries find: conversations, messages, parts and identities.
public protocol Queryable: Identifiable, Sendable, Equatable where ID: Hashable & Sendable {}
