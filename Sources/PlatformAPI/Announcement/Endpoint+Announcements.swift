import HTTP

extension Endpoint {
    /// Announcements, as the system makes them and as their recipients see them
    /// (platform-api §5.5, client-api §4.4).
    static let announcements = [
        Endpoint(
            .post, "/apps/{app}/announcements", "Announces something to many users.",
            isKeyed: true, .body { call, body in try await call.announce(body) }),
        Endpoint(
            .get, "/apps/{app}/announcements/{announcement}", "Reads an announcement.",
            isCompressed: true, .head { call in try await call.readAnnouncement() }),
        Endpoint(
            .get, "/apps/{app}/users/{user}/announcements",
            "Lists a user's announcements, newest first.", isCompressed: true,
            .head { call in try await call.listAnnouncements() }),
        Endpoint(
            .get, "/apps/{app}/users/{user}/announcements/{announcement}",
            "Reads an announcement as a user sees it.", isCompressed: true,
            .head { call in try await call.readReceivedAnnouncement() }),
        Endpoint(
            .delete, "/apps/{app}/users/{user}/announcements/{announcement}",
            "Deletes an announcement for one user.",
            .head { call in try await call.deleteAnnouncement() }),
        Endpoint(
            .post, "/apps/{app}/users/{user}/announcements/{announcement}/receipts",
            "Records that a user has received or read an announcement.",
            .body { call, body in try await call.sendAnnouncementReceipt(body) }),
    ]
}
