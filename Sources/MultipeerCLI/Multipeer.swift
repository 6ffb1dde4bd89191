package import MultipeerCommandLine

/// The command `multipeer`.
@main
package enum Multipeer {
    package static let program = CommandProgram(
        "multipeer", "Link peers directly over encrypted connections, without a server.",
        [
            LinkCommand.self, ChatCommand.self, SendCommand.self, ReceiveCommand.self,
            BrowseCommand.self, AdvertiseCommand.self, InviteCommand.self, DoctorCommand.self,
            ConfigCommand.self, DataInspectCommand.self, IdentityNewCommand.self, IdentityShowCommand.self,
            IdentityRequestCommand.self,
        ],
        examples: """
            to send a file, and to receive it on another machine on the same network:
              multipeer send photo.jpg     shows a one-time code, such as 7-guitar-island
              multipeer 7-guitar-island    takes it
            """,
        meaning: { word in
            if TransferSource.isThere(word) { return "multipeer send \(word)" }
            return PeerAddress(word, takesNames: false) == nil ? nil : "multipeer send FILE --to \(word)"
        })

    static func main() { program.main() }
}
