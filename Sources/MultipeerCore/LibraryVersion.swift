/// The version of this package: the one place where it is written. The commands, HELLO, the packages and the documentation take it
/// from here; tests compare what people write by hand. The version of the protocol is another one.
package enum LibraryVersion {
    /// Three numbers, as Semantic Versioning defines them.
    package static let text = "0.1.0"
}
