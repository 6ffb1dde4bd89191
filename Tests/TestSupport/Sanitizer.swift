import Glibc
package import Testing

/// Whether the tests run under a sanitizer, which takes several times the memory for itself: how much the process has
/// then says nothing about the library.
package enum Sanitizer {
    package static let isOn = ["__tsan_init", "__asan_init"].contains { (name: String) in
        unsafe dlsym(nil, name) != nil
    }

    /// So many; a tenth of them under a sanitizer, which takes ten times as long and looks at the code, not at crowds.
    package static func fewer(_ count: Int) -> Int { isOn ? max(1, count / 10) : count }
}

extension Trait where Self == ConditionTrait {
    /// Not under a sanitizer: what is long, and runs no code that a shorter test would not run.
    package static var longForSanitizers: Self { .disabled(if: Sanitizer.isOn, "too long under a sanitizer") }
}
