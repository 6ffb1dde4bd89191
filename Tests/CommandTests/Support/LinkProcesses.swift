import Foundation
import Testing

/// Two processes that exchange their connection data through files.
struct LinkProcesses {
    let folder: Folder
    let ann: Command
    let bob: Command

    init(_ options: [String] = [], ann more: [String] = [], bob others: [String] = []) throws {
        folder = try Folder()
        ann = try LinkProcesses.start("ann", expecting: "bob", in: folder, options + more)
        bob = try LinkProcesses.start("bob", expecting: "ann", in: folder, options + others)
    }

    static func start(
        _ name: String, expecting other: String, in folder: Folder, _ options: [String] = [],
        accepts: Bool = true, through wrapper: [String] = []
    ) throws -> Command {
        try Command(
            ["link"] + (accepts ? ["--unverified"] : []) + [
                "--name", name, "--listen", "127.0.0.1", "--timeout", "20", "--out",
                folder.path("\(name).data"), "--from", folder.path("\(other).data"),
            ] + options, through: wrapper)
    }

    /// Waits until both report that they are linked.
    func linked() async throws {
        #expect(try await ann.says("linked with bob"))
        #expect(try await bob.says("linked with ann"))
    }
}

/// Returns pseudorandom bytes that are the same in every run.
func pattern(_ count: Int, seed: UInt64) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
    }
}
