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
