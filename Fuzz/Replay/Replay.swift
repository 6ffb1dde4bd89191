import Foundation
import FuzzBodies

/// Runs the named bodies, or all of them, on all their inputs. `Fuzz/coverage` measures what they reach.
@main
enum Replay {
    static func main() {
        let names = CommandLine.arguments.dropFirst()
        do {
            for body in FuzzBody.all where names.isEmpty || names.contains(body.name) {
                let inputs = try Corpus.inputs(for: body)
                for input in inputs { try replay(input, body) }
                print("\(body.name): \(inputs.count) inputs")
            }
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    private static func replay(_ input: Corpus.Input, _ body: FuzzBody) throws(BrokenPromise) {
        do {
            try body.run(input.bytes)
        } catch {
            print("\(body.name), \(input.name):", terminator: " ")
            throw error
        }
    }
}
