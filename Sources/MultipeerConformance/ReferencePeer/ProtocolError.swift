/// What the reference peer refuses, and the code that it sends.
struct ProtocolError: Error {
    let code: CloseCode
    let text: String

    init(_ code: CloseCode, _ text: String) {
        self.code = code
        self.text = text
    }

    /// Whether a list of entries or of members was malformed.
    var isOfList: Bool {
        text.contains("entr") || text.contains("has ") || text.contains("member") || text.contains("expected")
    }

    /// Returns the error for a broken rule of the protocol.
    static func broken(_ text: String) -> ProtocolError { ProtocolError(.protocol, text) }
}

/// Throws unless what a peer sent meets a condition.
func demand(_ isSo: Bool, _ code: CloseCode, _ text: @autoclosure () -> String) throws(ProtocolError) {
    guard isSo else { throw ProtocolError(code, text()) }
}

/// Throws PROTOCOL unless what a peer sent meets a condition.
func demand(_ isSo: Bool, _ text: @autoclosure () -> String) throws(ProtocolError) {
    guard isSo else { throw ProtocolError(.protocol, text()) }
}
