/// What the judge's own peer refuses, and the code that it says.
struct Refusal: Error {
    let code: Code
    let text: String

    init(_ code: Code, _ text: String) {
        self.code = code
        self.text = text
    }

    /// Whether a list of entries or of members was malformed.
    var isOfList: Bool {
        text.contains("entr") || text.contains("has ") || text.contains("member") || text.contains("expected")
    }

    /// A rule of the wire was broken.
    static func broken(_ text: String) -> Refusal { Refusal(.protocol, text) }
}

/// Demands something of what a peer sent.
func demand(_ isSo: Bool, _ code: Code, _ text: @autoclosure () -> String) throws(Refusal) {
    guard isSo else { throw Refusal(code, text()) }
}

/// Demands what the wire demands everywhere.
func demand(_ isSo: Bool, _ text: @autoclosure () -> String) throws(Refusal) {
    guard isSo else { throw Refusal(.protocol, text()) }
}
