import MultipeerTransport

/// The runtime with which the tests were compiled.
package enum TestedRuntime {
    /// Whether it is the one for other systems, which the trait `PortableRuntime` selects on Linux.
    package static let isPortable = SystemCalls.self == PortableCalls.self
}
