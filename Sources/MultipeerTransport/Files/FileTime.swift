/// When a file was modified: since the beginning of 1970, as the system counts it.
package struct FileTime: Hashable, Sendable {
    package let seconds: Int64
    /// From 0 to 999,999,999.
    package let nanoseconds: Int64

    package init(seconds: Int64, nanoseconds: Int64 = 0) {
        self.seconds = seconds
        self.nanoseconds = min(max(0, nanoseconds), 999_999_999)
    }
}
