package import MultipeerCommandLine

/// The command `multipeer-conform`: whether a program speaks MPC/1 as the specification says.
@main
package enum MultipeerConform {
    package static let program = CommandProgram(
        "multipeer-conform", "Test whether a program speaks MPC/1 as the specification says.",
        [
            ConformListCommand.self, ConformRunCommand.self, ConformReproCommand.self,
            ConformSelftestCommand.self, ConformPeerCommand.self, ShimCommand.self,
        ])

    static func main() { program.main() }
}
