import Foundation
import MultipeerConnectivity

/// A program that connects with all devices nearby: the code that an app has besides its views.
@main struct Collusion {
    static func main() async {
        do {
            guard let options = try Options.parse(Array(CommandLine.arguments.dropFirst())) else {
                write(Options.usage)
                exit(0)
            }
            exit(try await Gathering(options).run())
        } catch let error as Options.Wrong {
            fail("\(error.text) (try --help)", 2)
        } catch {
            fail(error.localizedDescription, 1)
        }
    }

    /// Writes a line to standard output, unbuffered.
    static func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private static func fail(_ text: String, _ code: Int32) -> Never {
        FileHandle.standardError.write(Data("collusion: \(text)\n".utf8))
        exit(code)
    }
}
