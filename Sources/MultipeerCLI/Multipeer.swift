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
        files: [
            ("~/.config/multipeer/config", "your settings, as 'multipeer config' shows and changes them"),
            (
                "~/.config/multipeer/identities/",
                "the key of your peer id, one for each name; do not copy it to another machine"
            ),
            (
                "~/.config/multipeer/trust",
                "the peers that you have verified, and with --trust tofu all that were linked"
            ),
        ],
        variables: [
            ("XDG_CONFIG_HOME", "the directory to use in place of ~/.config, with an absolute path"),
            ("MULTIPEER_INTERFACES", "the interfaces to use without --interface, such as lo or eth0,wlan0"),
            (
                PassphraseSource.variable,
                "the passphrase of an identity file; without it and --passphrase-file, you are asked"
            ),
            (
                "SSLKEYLOGFILE",
                "the file for the secrets of links, as with --keylog: who can read it can decrypt what is sent"
            ),
            ("NO_COLOR", "if set to anything, no colours in 'chat'"),
            ("TERM", "whether the terminal takes escape sequences"),
            ("LC_ALL, LC_CTYPE, LANG", "whether it shows characters beyond ASCII"),
            ("http_proxy, https_proxy, no_proxy", "how curl reaches a web server, for 'send URL'"),
            ("TMPDIR", "where temporary files are; default: /tmp"),
        ],
        meaning: { word in
            if TransferSource.isThere(word) { return "multipeer send \(word)" }
            return PeerAddress(word, takesNames: false) == nil ? nil : "multipeer send FILE --to \(word)"
        })

    static func main() { program.main() }
}
