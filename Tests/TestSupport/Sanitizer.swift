import Glibc
package import Testing

/// Whether the tests run under a sanitizer, which itself needs several times the memory: the process's memory then
/// shows nothing about the library.
package enum Sanitizer {
    package static let isOn = ["__tsan_init", "__asan_init"].contains { (name: String) in
        unsafe dlsym(nil, name) != nil
    }

    /// Returns `count`, or a tenth of it under a sanitizer, which takes ten times as long and checks code, not
    /// quantities.
    package static func fewer(_ count: Int) -> Int { isOn ? max(1, count / 10) : count }
}

extension Trait where Self == ConditionTrait {
    /// Disables a long test under a sanitizer if shorter tests run the same code.
    package static var longForSanitizers: Self { .disabled(if: Sanitizer.isOn, "too long under a sanitizer") }
}
