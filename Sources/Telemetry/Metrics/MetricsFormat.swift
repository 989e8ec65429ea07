/// The two texts in which Prometheus takes metrics.
public enum MetricsFormat: String, Sendable, Hashable, CaseIterable {
    /// The Prometheus text format 0.0.4, for everybody.
    case text = "text/plain; version=0.0.4; charset=utf-8"
    /// OpenMetrics 1.0.0, for whoever asks for it.
    case openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// What goes into `Content-Type`.
    public var mediaType: String { rawValue }
}
