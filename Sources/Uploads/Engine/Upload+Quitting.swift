extension Upload {
    /// Waits until nobody writes and nothing is being finished.
    func settleDown() async {
        // Nobody else waits once the server stops, so the turn comes or the deadline does.
        guard (try? await takeTurnHere()) != nil else { return }
        leaveTurn()
        if record.state == .finalizing && finalizing != nil { _ = await finish() }
    }
}
