// The client of web servers: a module of its own, except where it is a part of Foundation.

#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#else
    @_exported public import Foundation
#endif
