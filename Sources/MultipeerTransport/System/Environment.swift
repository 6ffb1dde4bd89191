import CPlatform
import MultipeerCore
import MultipeerPlatform

/// The variables of this process, as they are now.
package enum Environment {
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
