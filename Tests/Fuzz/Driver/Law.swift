/// A sentence that holds whatever the input; a law that breaks stops the process, which is how
/// libFuzzer hears of it.
func law(_ sentence: StaticString, _ holds: Bool) {
    guard holds else { fatalError("broken: \(sentence)") }
}
