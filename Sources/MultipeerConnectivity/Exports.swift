// Clients of Apple's framework use these with no import of their own.
@_exported public import Dispatch
@_exported public import Foundation
