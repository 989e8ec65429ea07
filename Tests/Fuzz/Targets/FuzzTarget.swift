/// A parser or renderer to fuzz; its check stops the process when an input violates an invariant.
struct FuzzTarget: Sendable {
    /// The name on the command line and of the seeds: `Seeds/<name>.txt`.
    let name: String
    /// Passes one input to the code under test.
    let check: @Sendable ([UInt8]) -> Void

    /// All targets, sorted by name.
    static let all = [
        FuzzTarget(name: "chunks", check: Chunks.check),
        FuzzTarget(name: "codings", check: Codings.check),
        FuzzTarget(name: "conditions", check: Conditions.check),
        FuzzTarget(name: "content-ranges", check: ContentRanges.check),
        FuzzTarget(name: "dates", check: Dates.check),
        FuzzTarget(name: "forwarding", check: Forwarding.check),
        FuzzTarget(name: "frames", check: Frames.check),
        FuzzTarget(name: "header-texts", check: HeaderTexts.check),
        FuzzTarget(name: "import-lines", check: ImportLines.check),
        FuzzTarget(name: "imported-objects", check: ImportedObjects.check),
        FuzzTarget(name: "inflation", check: Inflation.check),
        FuzzTarget(name: "json", check: JSONTexts.check),
        FuzzTarget(name: "kit-answers", check: KitAnswers.check),
        FuzzTarget(name: "kit-items", check: KitItems.check),
        FuzzTarget(name: "kit-streams", check: KitStreams.check),
        FuzzTarget(name: "kit-texts", check: KitTexts.check),
        FuzzTarget(name: "offers", check: Offers.check),
        FuzzTarget(name: "proxy-headers", check: ProxyHeaders.check),
        FuzzTarget(name: "ranges", check: Ranges.check),
        FuzzTarget(name: "records", check: Records.check),
        FuzzTarget(name: "requests", check: Requests.check),
        FuzzTarget(name: "store-documents", check: StoreDocuments.check),
        FuzzTarget(name: "targets", check: Targets.check),
        FuzzTarget(name: "tus-fields", check: TusFields.check),
    ]
}
