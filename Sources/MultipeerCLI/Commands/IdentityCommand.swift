import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer identity new`: creates a key and a certificate.
enum IdentityNewCommand: Subcommand {
    static let usage = Usage(
        ["identity", "new"], "create a P-256 key and a self-signed certificate",
        details: """
            Without --out, key and certificate go to standard output. With --out they go to FILE, which only its owner can
            read, and the fingerprint goes to standard output: others can pin it, with --trust fingerprint:HEX.
            """,
        options: [
            .init("--out", "FILE", "write to FILE, mode 0600"),
            .init(
                "--name", "NAME", "common name of the certificate, at most 64 bytes; default: multipeer"),
            .init(
                "--format", "FORMAT", words: ["pem", "pkcs12"],
                "pem (default) or pkcs12, which needs a passphrase"),
            PassphraseSource.option,
            .init("--force", "replace FILE if it exists"),
        ], exits: [.badInput, .system])

    static func run(_ arguments: Arguments) throws(CommandError) {
        let isArchive = try arguments.choice("--format", of: ["pem", "pkcs12"]) { $0 == "pkcs12" } ?? false
        let name = arguments.value("--name") ?? ""
        guard name.utf8.count <= 64 else {
            throw arguments.commandError("option '--name' takes at most 64 bytes")
        }
        let out = arguments.value("--out")
        guard !isArchive || out != nil || !DescriptorStream.output.isTerminal else {
            throw arguments.commandError("cannot print pkcs12 to a terminal; use --out")
        }
        let passphrase = PassphraseSource(arguments)
        let secret = try isArchive ? passphrase.choose() : passphrase.given()
        guard !isArchive || secret != nil else { throw arguments.commandError("pkcs12 needs a passphrase") }
        let (identity, bytes) = try IdentityFile.explain { () throws(SecurityFault) in
            let identity = try Identity.generated(commonName: name)
            let archive =
                try isArchive
                ? identity.encodedPKCS12(passphrase: secret ?? "") : identity.encodedPEM(passphrase: secret)
            return (identity, archive)
        }
        guard let out else { return try Terminal.put(bytes) }
        try AtomicFile.write(bytes, to: out, replacing: arguments.has("--force"))
        try Terminal.put("\(identity.fingerprint)\n")
    }
}

/// `multipeer identity show`: shows the certificates of an identity file.
enum IdentityShowCommand: Subcommand {
    static let usage = Usage(
        ["identity", "show"], operands: "FILE", mostOperands: 1, "show the certificates of an identity file",
        details:
            "FILE is PEM or PKCS#12 with a private key and up to 8 certificates. No secrets are shown.",
        options: [PassphraseSource.option, .init("--json", "print JSON")], exits: [.badInput, .system])

    static func run(_ arguments: Arguments) throws(CommandError) {
        guard let path = arguments.operands.first else { throw arguments.commandError("FILE is missing") }
        let identity = try IdentityFile.read(path, PassphraseSource(arguments))
        let certificates = identity.chain.map(CertificateReport.init)
        if arguments.has("--json") { return try Terminal.put(JSON.encode(certificates)) }
        let texts = certificates.enumerated().map { index, certificate in
            Columns.lines([("certificate", "\(index + 1) of \(certificates.count)")] + certificate.rows)
        }
        try Terminal.put(texts.joined(separator: "\n\n") + "\n")
    }
}

/// What is shown of a certificate.
struct CertificateReport: Encodable {
    let subject: String
    let issuer: String
    let key: String
    let fingerprint: String
    let notBefore: String
    let notAfter: String
    let isSelfSigned: Bool

    init(_ certificate: Certificate) {
        subject = certificate.subject.printable
        issuer = certificate.issuer.printable
        key = certificate.keyDescription
        fingerprint = "\(certificate.fingerprint)"
        notBefore = CertificateReport.date(certificate.notBefore)
        notAfter = CertificateReport.date(certificate.notAfter)
        isSelfSigned = certificate.isSelfSigned
    }

    var rows: [(String, String)] {
        [
            ("subject", subject), ("signed by", isSelfSigned ? "itself" : issuer), ("key", key),
            ("fingerprint", fingerprint), ("valid", "\(notBefore) to \(notAfter)"),
        ]
    }

    private static func date(_ seconds: Int64) -> String { LocalTime.universal(Int(seconds)) }
}
