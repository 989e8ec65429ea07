/// A provider was created.
public struct ProviderCreated: EventPayload {
    /// The provider, without keys.
    public let provider: Provider

    /// All members.
    public init(provider: Provider) {
        self.provider = provider
    }

    /// The type of the event.
    public var type: EventType { .providerCreated }
}

/// A provider was deleted with its keys. Sessions that it began continue.
public struct ProviderDeleted: EventPayload {
    /// The provider.
    public let provider: Provider.ID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(provider: Provider.ID, at: Timestamp) {
        self.provider = provider
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .providerDeleted }
}

/// A key was added to a provider.
public struct ProviderKeyCreated: EventPayload {
    /// The key.
    public let key: ProviderKey

    /// All members.
    public init(key: ProviderKey) {
        self.key = key
    }

    /// The type of the event.
    public var type: EventType { .providerKeyCreated }
}

/// A key of a provider was disabled or enabled.
public struct ProviderKeyUpdated: EventPayload {
    /// The key.
    public let key: ProviderKey.ID
    /// Whether it is disabled now.
    public let isDisabled: Bool

    /// All members.
    public init(key: ProviderKey.ID, isDisabled: Bool) {
        self.key = key
        self.isDisabled = isDisabled
    }

    /// The type of the event.
    public var type: EventType { .providerKeyUpdated }
}

/// A key of a provider was deleted. Sessions that it began continue.
public struct ProviderKeyDeleted: EventPayload {
    /// The key.
    public let key: ProviderKey.ID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(key: ProviderKey.ID, at: Timestamp) {
        self.key = key
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .providerKeyDeleted }
}
