import CPlatform
import MultipeerCore
import MultipeerPlatform

/// The variables of this process, as they are now, and the words with which it was started.
package enum Environment {
    /// The name of the program, as it was started, and what follows it. One that is not UTF-8 is nil: repaired, it would name another
    /// file. Swift's own list is empty where there is no /proc.
    package static var words: [String?] {
        guard var next = unsafe multipeer_arguments() else { return CommandLine.arguments }
        var words: [String?] = []
        while let word = unsafe next.pointee {
            words.append(unsafe String(validatingCString: word))
            unsafe next += 1
        }
        return words
    }

    /// Has a program do without OpenSSL's configuration, which is the machine's and may leave out what the protocol needs. Before it
    /// uses OpenSSL.
    package static func ignoreOpenSSLConfiguration() { multipeer_ignore_openssl_configuration() }

    /// Returns the value of one; nil if it is not set.
    package static func value(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// All of them. The first of two with one name counts, as for `value`.
    package static var all: [String: String] {
        var values: [String: String] = [:]
        guard var next = unsafe multipeer_environment() else { return values }
        while let entry = unsafe next.pointee {
            let parts = unsafe String(cString: entry).pieces(at: "=", atMost: 2, keepingEmpty: true)
            if parts.count == 2, values[String(parts[0])] == nil {
                values[String(parts[0])] = String(parts[1])
            }
            unsafe next += 1
        }
        return values
    }
}
