import MultipeerPlatform

/// What the system says about a value of `errno`: users read words, and never the number.
package enum SystemMessage {
    package static func text(_ code: Int32) -> String {
        unsafe String(cString: strerror(code)).lowercased()
    }
}
