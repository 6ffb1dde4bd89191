import Foundation

extension FuzzBody {
    /// Runs one input for libFuzzer. A broken promise traps, so that the input is kept as a crash.
    package func attack(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
        do {
            try run(bytes)
        } catch {
            fatalError("\(name): \(error)")
        }
    }

    /// Runs the body on the files and folders named on the command line: the plain build's `main`.
    package func replay() {
        do {
            for argument in CommandLine.arguments.dropFirst() {
                for input in try Corpus.inputs(at: URL(filePath: argument)) {
                    print(input.name, terminator: ": ")
                    try run(input.bytes)
                    print("ok")
                }
            }
        } catch {
            print("\(error)")
            exit(1)
        }
    }
}
