// One import for the user: the public values of the layers below are part of this module's interface.
@_exported public import MultipeerCore
@_exported public import MultipeerDiscovery
@_exported public import MultipeerEssentials
@_exported public import MultipeerFraming
@_exported public import MultipeerHandshake
@_exported public import MultipeerLink
@_exported public import MultipeerMesh
@_exported public import MultipeerSecurity
@_exported public import MultipeerTransport
