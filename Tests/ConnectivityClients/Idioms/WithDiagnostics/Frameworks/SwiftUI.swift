// mode: Swift 5
// flags: -swift-version 5

// idiom: an ObservableObject with a published list
// why: There is no SwiftUI on Linux, and so neither `ObservableObject` nor `@Published`.
// instead: Use `@Observable` of the module Observation for the model.

#if !INSTEAD
    // error: no such module 'SwiftUI'
    import SwiftUI
#endif
import MultipeerConnectivity

#if INSTEAD
    import Observation

    @Observable final class PeerModel { var peers: [MCPeerID] = [] }
#else
    final class PeerModel: ObservableObject { @Published var peers: [MCPeerID] = [] }
#endif
