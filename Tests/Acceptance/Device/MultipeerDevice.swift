import MultipeerConnectivity

/// A device that knows Apple's interface and nothing else. It obeys lines on its standard input, words with blanks between
/// them and `%20` for a blank within one, and tells what it did and every call of a delegate: one JSON object a line.
///
/// Its main thread sleeps in a read of standard input: nobody runs a run loop or the main queue, unless it is started with
/// `--run-loop`, as one with a user interface is.
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

/// Why an order cannot be carried out.
struct Complaint: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
