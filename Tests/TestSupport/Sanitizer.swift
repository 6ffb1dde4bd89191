import Glibc

/// Whether the tests run under a sanitizer, which takes several times the memory for itself: how much the process has
/// then says nothing about the library.
package enum Sanitizer {
    package static let isOn = ["__tsan_init", "__asan_init"].contains { (name: String) in
        unsafe dlsym(nil, name) != nil
    }
}
