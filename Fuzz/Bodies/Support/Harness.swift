import Foundation

extension FuzzBody {
    /// The names of all harnesses, sorted.
    package static var allNames: String { all.map(\.name).sorted().joined(separator: ", ") }

    /// Returns the harness with this name.
    package static func named(_ name: some StringProtocol) -> FuzzBody? {
        all.first { $0.name == name }
    }

    /// Runs one input for libFuzzer. A broken promise traps, so that the input is kept as a crash.
    package func attack(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
        do {
            try run(bytes)
        } catch {
            fatalError("\(name): \(error)")
        }
    }

    /// Runs the body over its seeds and regressions, and prints how many there are.
    package func replay() throws {
        let inputs = try Corpus.inputs(for: self)
        for input in inputs {
            do {
                try run(input.bytes)
            } catch {
                throw BrokenPromise(description: "\(name), \(input.name): \(error)")
            }
        }
        print("\(name): \(inputs.count) inputs")
    }

    /// Runs the body over files, and over the files of folders, and prints each of them.
    package func replay(_ paths: [String]) throws {
        for input in try paths.flatMap({ try Corpus.inputs(at: URL(filePath: $0)) }) {
            print(input.name, terminator: ": ")
            try run(input.bytes)
            print("ok")
        }
    }
}
