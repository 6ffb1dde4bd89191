import FuzzBodies
import TestSupport
import Testing

@Suite("20 Fuzz regressions", .computing)
struct FuzzRegressionTests {
    @Test(
        "no seed and no input that once caused a failure causes it again",
        arguments: FuzzBody.all.map(\.name))
    func replay(_ name: String) throws {
        let body = try #require(FuzzBody.all.first { $0.name == name })
        let inputs = try Corpus.inputs(for: body)
        #expect(!inputs.isEmpty, "a harness without seeds finds little")
        for input in inputs {
            #expect(throws: Never.self, "\(input.name)") { try body.run(input.bytes) }
        }
    }

    @Test("no fuzz body fails on empty input", arguments: FuzzBody.all.map(\.name))
    func empty(_ name: String) throws {
        let body = try #require(FuzzBody.all.first { $0.name == name })
        try body.run([])
    }
}
