import Foundation
package import Multipeer

/// `--keylog`: a file with all TLS and DTLS secrets, for a packet analyser.
package enum KeyLogOption {
    package static let option = Usage.Option(
        "--keylog", "FILE",
        "append TLS and DTLS secrets to FILE for a packet analyser; anyone who can read FILE can decrypt everything; "
            + "default: the variable SSLKEYLOGFILE")

    /// Returns nil when no key log was requested, and for a command that encrypts nothing.
    package static func read(_ arguments: Arguments) throws(CommandError) -> KeyLog? {
        guard arguments.takes(option.name) else { return nil }
        let variable = ProcessInfo.processInfo.environment["SSLKEYLOGFILE"].flatMap { $0.isEmpty ? nil : $0 }
        guard let path = arguments.value(option.name) ?? variable else { return nil }
        do {
            return try KeyLog(file: path) { failure in
                Terminal.say("key log stopped: \("\(failure)".printable)")
            }
        } catch {
            throw CommandError("cannot write key log: \("\(error)".printable)", exit: .system)
        }
    }
}
