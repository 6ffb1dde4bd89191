import Multipeer

/// `multipeer demo-peer`: one of the processes that `multipeer demo` starts. It takes orders on standard input, and ends
/// when that does: nobody is left behind when the demonstration is killed.
enum DemoPeer {
    static let usage = Usage(
        ["demo-peer"], "a peer of 'multipeer demo', which gives it orders on standard input",
        options: SessionOptions.options, exits: [.linkFailed, .badInput, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(Complaint) {
        let options = try SessionOptions(arguments)
        let actor = try DemoActor(options)
        try await actor.run()
    }
}
