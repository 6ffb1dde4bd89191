// The smaller part of Foundation, where it is a module of its own: a program that needs no more of it starts faster.

#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
