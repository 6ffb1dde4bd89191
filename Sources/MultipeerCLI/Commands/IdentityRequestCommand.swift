import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer identity request`: asks an authority to certify which peer an identity belongs to.
enum IdentityRequestCommand: Subcommand {
    static let usage = Usage(
        ["identity", "request"], operands: "FILE", mostOperands: 1,
        "create a request for a certificate that names a peer",
        details: """
            FILE is an identity. The request (PKCS#10) is for its key, with the name, the peer id that the key proves, and
            the purposes that --trust ca:FILE checks. An authority signs it, for example with

                openssl x509 -req -copy_extensions copy -in REQUEST \\
                  -CA CA.pem -CAkey CA.key -days 365

            Then replace the certificate in FILE by the signed one.
            """,
        options: [
            .init(
                "--name", "NAME",
                "the name that peers see, at most 63 bytes; default: that of 'multipeer config', or of this machine"
            ),
            .init(
                "--name-only",
                "do not name the peer id: for a peer that keeps another id with --id, from an earlier version"
            ),
            .init("--out", "FILE", "write to FILE; default: standard output"), PassphraseSource.option,
            .init("--force", "replace FILE if it exists"),
        ], exits: [.badInput, .system])

    static func run(_ arguments: Arguments) throws(CommandError) {
        guard let path = arguments.operands.first else { throw arguments.commandError("FILE is missing") }
        let identity = try IdentityFile.read(path, PassphraseSource(arguments))
        let peer = try PeerOptions(arguments).peer
        let uid = arguments.has("--name-only") ? nil : identity.uid
        let request = try IdentityFile.explain { () throws(SecurityFault) in
            try identity.encodedRequest(commonName: peer.displayName, uid: uid)
        }
        guard let out = arguments.value("--out") else { return try Terminal.put(request) }
        try AtomicFile.write(request, to: out, replacing: arguments.has("--force"))
    }
}
