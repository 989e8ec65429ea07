public import Messaging
import SQL

extension MessagingStore {
    /// Stores the push token of a device of a user, and replaces the one of the same device (client-api §4.7).
    ///
    /// A token that another device or user has registered moves here. Beyond ``Device/limit`` devices the least recently
    /// registered one is dropped. No event records it, because the log must not contain the token.
    ///
    /// - Parameter session: The session that registers it; when it is ended, the device is deleted (ruling 50).
    public func registerDevice(
        _ device: Device, of user: UserID, by session: Session.ID, in application: Application.ID
    ) async throws {
        let now = environment.now()
        try await database.write { transaction in
            try transaction.execute(
                """
                DELETE FROM devices
                WHERE application = \(application)
                    AND (user_id = \(user) AND device = \(device.id) OR token = \(device.token))
                """)
            try transaction.execute(
                """
                INSERT INTO devices (
                    application, user_id, device, kind, token, bundle_id, sender_id,
                    system_version, session, registered_at
                ) VALUES (
                    \(application), \(user), \(device.id), \(device.kind.rawValue), \(device.token),
                    \(device.bundleID), \(device.senderID), \(device.systemVersion), \(session),
                    \(now)
                )
                """)
            try transaction.execute(
                """
                DELETE FROM devices
                WHERE application = \(application) AND user_id = \(user) AND device IN (
                    SELECT device FROM devices
                    WHERE application = \(application) AND user_id = \(user)
                    ORDER BY registered_at DESC, device DESC LIMIT 10 OFFSET \(Device.limit)
                )
                """)
        }
    }

    /// Deletes a device of a user; an unknown one changes nothing.
    public func removeDevice(
        _ id: String, of user: UserID, in application: Application.ID
    ) async throws {
        try await database.write { transaction in
            try transaction.execute(
                """
                DELETE FROM devices
                WHERE application = \(application) AND user_id = \(user) AND device = \(id)
                """)
        }
    }

    /// The devices of a user, the most recently registered first.
    public func devices(
        of user: UserID, in application: Application.ID
    ) async throws -> [Device] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT device, kind, token, bundle_id, sender_id, system_version FROM devices
                WHERE application = \(application) AND user_id = \(user)
                ORDER BY registered_at DESC, device DESC
                """
            ) { row in
                guard let kind = Device.Kind(rawValue: try row.text(1)) else {
                    throw StoreFault.unreadable("devices.kind")
                }
                return Device(
                    id: try row.text(0), kind: kind, token: try row.text(2),
                    bundleID: try row.optionalText(3), senderID: try row.optionalText(4),
                    systemVersion: try row.optionalText(5))
            }
        }
    }
}

extension Projection {
    /// Deletes the devices that a session has registered.
    func removeDevices(of session: Session.ID) throws {
        try transaction.execute(
            "DELETE FROM devices WHERE application = \(application) AND session = \(session)")
    }

    /// Deletes the devices of a user whose sessions have all ended.
    func removeDevices(of user: UserID) throws {
        try transaction.execute(
            "DELETE FROM devices WHERE application = \(application) AND user_id = \(user)")
    }
}
