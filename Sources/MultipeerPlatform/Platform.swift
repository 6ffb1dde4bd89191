// The C library of the system. Only this file asks which one it is: all others import this module. Its importers get it for
// their own file alone, so no dependent of the package has these names unless it imports the C library itself.

#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Android)
    @_exported public import Android
#elseif canImport(Darwin)
    @_exported public import Darwin
#else
    #error("the C library of this system is not known")
#endif

/// What the C libraries declare with different types or under different names.
package enum CLibrary {
    #if canImport(Glibc)
        @inlinable package static var streamSocket: Int32 { Int32(SOCK_STREAM.rawValue) }
        @inlinable package static var datagramSocket: Int32 { Int32(SOCK_DGRAM.rawValue) }
    #else
        @inlinable package static var streamSocket: Int32 { SOCK_STREAM }
        @inlinable package static var datagramSocket: Int32 { SOCK_DGRAM }
    #endif

    /// The flag with which sending raises no signal. Darwin has an option of the socket instead.
    #if canImport(Darwin)
        @inlinable package static var noSignal: Int32 { 0 }
    #else
        @inlinable package static var noSignal: Int32 { Int32(MSG_NOSIGNAL) }
    #endif

    /// A number of the calling thread.
    #if canImport(Glibc)
        @inlinable package static var thread: UInt { UInt(pthread_self()) }
    #else
        @inlinable package static var thread: UInt { UInt(bitPattern: pthread_self()) }
    #endif

    /// `UTIME_NOW`, which is not imported.
    #if canImport(Darwin)
        package static var timeNow: Int { -1 }
    #else
        package static var timeNow: Int { (1 << 30) - 1 }
    #endif
}

extension stat {
    /// When the file was modified.
    package var modified: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }
}
