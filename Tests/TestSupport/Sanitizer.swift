import Glibc
package import Testing

/// Whether the tests run under a sanitizer, which takes several times the memory for itself: the process's memory then
/// shows nothing about the library.
package enum Sanitizer {
    package static let isOn = ["__tsan_init", "__asan_init"].contains { (name: String) in
        unsafe dlsym(nil, name) != nil
    }

    /// Returns `count`, or a tenth of it under a sanitizer, which takes ten times as long and checks the code, not
    /// numbers.
    package static func fewer(_ count: Int) -> Int { isOn ? max(1, count / 10) : count }
}

extension Trait where Self == ConditionTrait {
    /// Disables a test under a sanitizer: one that is long, and runs no code that a shorter test does not.
    package static var longForSanitizers: Self { .disabled(if: Sanitizer.isOn, "too long under a sanitizer") }
}
