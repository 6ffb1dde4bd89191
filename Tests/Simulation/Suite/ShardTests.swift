import Foundation
import TestSupport
import Testing

@Suite("Seeds that several machines share", .computing)
struct ShardTests {
    @Test("the merged reports of all parts are the report of all seeds, but for the time")
    func parts() throws {
        let folder = try ReportFolder()
        let whole = try simulate("--seeds", "4", "--from", "3", "--json", folder.path("whole"))
        #expect(whole.hasSuffix("\nclean seeds=4\n"))
        for part in 1...3 {
            _ = try simulate(
                "--seeds", "4", "--from", "3", "--shard", "\(part)/3", "--json", folder.path("\(part)"))
        }
        let merged = try simulate(
            "--merge", folder.path("2"), folder.path("3"), folder.path("1"), "--json", folder.path("merged"))
        #expect(merged.hasSuffix("\nclean seeds=4\n"))
        var (one, other) = (try object(folder.path("whole")), try object(folder.path("merged")))
        one["seconds"] = nil
        other["seconds"] = nil
        #expect(one as NSDictionary == other as NSDictionary)
        #expect(try object(folder.path("1"))["seeds"] as? [[String: Int]] == [["from": 3, "count": 2]])
        #expect(try object(folder.path("3"))["seeds"] as? [[String: Int]] == [["from": 6, "count": 1]])
    }

    @Test("parts that are missing, doubled, of other modes or no reports are named")
    func misfits() throws {
        let folder = try ReportFolder()
        for part in ["1", "3"] {
            _ = try simulate(
                "--seeds", "3", "--from", "3", "--shard", "\(part)/3", "--mode", "safety", "--json",
                folder.path(part))
        }
        _ = try simulate("--seed", "4", "--mode", "liveness", "--json", folder.path("other"))
        try Data("{}".utf8).write(to: URL(filePath: folder.path("text")))
        for (names, text) in [
            (["1", "3"], "seed 4 is in no report"), (["1", "1"], "seed 3 is in two reports"),
            (["1", "other"], "the reports are of other modes"), (["none"], "none"), (["text"], "text"),
        ] {
            let ending = try SimulateProgram.run(["--merge"] + names.map { folder.path($0) })
            #expect(ending.code == 2 && ending.errors.contains(text), "\(names): \(ending.errors)")
        }
    }

    @Test("with --json -, only the report is printed")
    func report() throws {
        let said = try simulate("--seed", "4", "--mode", "liveness", "--json", "-")
        let object = try JSONSerialization.jsonObject(with: Data(said.utf8)) as? [String: Any]
        #expect(object?["modes"] as? [String] == ["liveness"])
    }

    @Test("parts that do not exist are refused", arguments: ["0/2", "3/2", "1", "1/2/3", "x/2", "1/9"])
    func numbers(shard: String) throws {
        let ending = try SimulateProgram.run(["--seeds", "8", "--shard", shard])
        #expect(ending.code == 2 && ending.errors.hasPrefix("simulate: "))
    }

    private func simulate(_ arguments: String...) throws -> String {
        let ending = try SimulateProgram.run(arguments)
        #expect(ending.code == 0, "\(ending.output)\(ending.errors)")
        return ending.output
    }

    private func object(_ file: String) throws -> [String: Any] {
        let bytes = try Data(contentsOf: URL(filePath: file))
        return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    }
}
