package import MultipeerCommandLine

/// The command `multipeer-conform`: whether a program implements MPC/1 as the specification defines it.
@main
package enum MultipeerConform {
    package static let program = CommandProgram(
        "multipeer-conform", "Test whether a program implements MPC/1 as the specification defines it.",
        [
            ConformListCommand.self, ConformRunCommand.self, ConformProbeCommand.self,
            ConformCompareCommand.self, ConformReproCommand.self,
            ConformSelftestCommand.self, ConformPeerCommand.self, ShimCommand.self,
        ])

    static func main() { program.main() }
}
