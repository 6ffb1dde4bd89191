import Foundation
package import Multipeer

/// `--keylog`: the secrets of all that is encrypted, in a file for a packet analyser.
package enum KeyLogOption {
    package static let option = Usage.Option(
        "--keylog", "FILE",
        "append the secrets of TLS and DTLS to FILE for a packet analyser: whoever reads FILE reads all that is said; "
            + "default: the variable SSLKEYLOGFILE")

    /// Nil where nobody asks for it, and for a command that encrypts nothing.
    package static func read(_ arguments: Arguments) throws(CommandError) -> KeyLog? {
        guard arguments.takes(option.name) else { return nil }
        let variable = ProcessInfo.processInfo.environment["SSLKEYLOGFILE"].flatMap { $0.isEmpty ? nil : $0 }
        guard let path = arguments.value(option.name) ?? variable else { return nil }
        do {
            return try KeyLog(file: path) { failure in
                Terminal.say("TLS secrets are not written any more: \("\(failure)".printable)")
            }
        } catch {
            throw CommandError("cannot write TLS secrets: \("\(error)".printable)", exit: .system)
        }
    }
}
