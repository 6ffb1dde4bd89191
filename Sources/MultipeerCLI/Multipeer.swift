package import MultipeerCommandLine

/// The command `multipeer`.
@main
package enum Multipeer {
    package static let program = CommandProgram(
        "multipeer", "Link peers directly over encrypted connections, without a server.",
        [
            LinkCommand.self, ChatCommand.self, SendCommand.self, ReceiveCommand.self,
            BrowseCommand.self, AdvertiseCommand.self, InviteCommand.self, DoctorCommand.self,
            DataInspectCommand.self, IdentityNewCommand.self, IdentityShowCommand.self,
            IdentityRequestCommand.self,
        ])

    static func main() { program.main() }
}
