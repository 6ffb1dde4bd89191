import MultipeerBenchCommon

/// The library's side of `make bench`; Benchmarks/README.md describes what is measured.
@main
enum MultipeerBench {
    static func main() async {
        await BenchmarkProgram.run("MultipeerBench", Assignment.Mode.allCases) { try await Work($0).run() }
    }
}
