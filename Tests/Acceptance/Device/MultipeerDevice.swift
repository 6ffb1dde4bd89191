import MultipeerConnectivity

/// A device that uses only Apple's interface. It executes commands from its standard input, words with spaces between them
/// and `%20` for a space within one, and reports what it did and every delegate call: one JSON object per line.
///
/// Its main thread blocks in a read of standard input: no run loop and no main queue runs, unless it is started with
/// `--run-loop`, like a program with a user interface. Without it, browsers, advertisers and assistants get a private queue for
/// their calls.
@main
enum MultipeerDevice {
    static func main() {
        let device = Device()
        var orders = Orders(runsMainLoop: CommandLine.arguments.contains("--run-loop"))
        tell("ready")
        while let line = orders.next(), line != "quit" { device.obey(line) }
        device.end()
        tell("quit")
    }
}

/// The reason why a command cannot be carried out.
struct Complaint: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
