/// Stops the process unless a statement that must hold for every input holds; libFuzzer and the test
/// runner both report that as a failure.
func law(_ sentence: StaticString, _ holds: Bool) {
    guard holds else { fatalError("broken: \(sentence)") }
}
