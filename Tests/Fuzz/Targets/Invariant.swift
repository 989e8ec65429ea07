/// Stops the process unless a statement that must be true for every input is true; libFuzzer and the test
/// runner both report that as a failure.
func invariant(_ sentence: StaticString, _ isTrue: Bool) {
    guard isTrue else { fatalError("violated: \(sentence)") }
}
