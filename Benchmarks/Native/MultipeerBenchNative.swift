import MultipeerBenchCommon

/// The rows of `make bench` about what a process costs that does little: it links what an application of the native API links,
/// and not Apple's API and the web client, whose libraries would be in its memory.
@main
enum MultipeerBenchNative {
    static func main() async {
        await BenchmarkProgram.run(
            "MultipeerBenchNative", [.session, .memory, .nothing, .idle, .mesh, .meshidle]
        ) {
            switch $0.mode {
            case .idle, .mesh, .meshidle: try await MeshWork($0).run()
            default: try await SessionWork($0).run()
            }
        }
    }
}
