import MultipeerPlatform

/// The suite itself could not do its work: neither the subject nor the case is to blame. Exit code 3.
package struct SuiteFault: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }

    static func system(_ text: String, _ code: Int32) -> SuiteFault {
        SuiteFault("\(text): \(unsafe String(cString: strerror(code)).lowercased())")
    }
}

/// The subject did not do what the specification demands.
struct CaseFailure: Error, CustomStringConvertible {
    let description: String
    /// Whether its process has ended, or does not answer.
    let isOfProcess: Bool

    init(_ description: String, isOfProcess: Bool = false) {
        (self.description, self.isOfProcess) = (description, isOfProcess)
    }
}

/// The case cannot be run with this subject.
struct Skip: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
