// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// What compiles with a warning. All but the first are the same with Apple's module.

// idiom: a plain default after all three states
// why: The enumeration has no other cases here; Apple's may get some.
// instead: Write `@unknown default`.

func text(for state: MCSessionState) -> String {
    switch state {
    case .notConnected: return "not connected"
    case .connecting: return "connecting"
    case .connected: return "connected"
    #if INSTEAD
        @unknown default: return "unknown"
    #else
        // warning: default will never be executed
        default: return "unknown"
    #endif
    }
}

// idiom: `.none` where an optional encryption preference is expected
// why: `Optional` also has a case `none`, which the compiler chooses.
// instead: Write `MCEncryptionPreference.none`.

func preference(isPlain: Bool) -> MCEncryptionPreference? {
    #if INSTEAD
        isPlain ? MCEncryptionPreference.none : nil
    #else
        // warning: assuming you mean 'Optional<MCEncryptionPreference>.none'
        isPlain ? .none : nil
    #endif
}

// idiom: a delegate without a strong reference
// why: The delegate is held weakly.
// instead: Store the delegate in a property.

final class Keeper: NSObject, MCAdvertiserAssistantDelegate {
    private var delegate: Keeper?

    func attach(to assistant: MCAdvertiserAssistant) {
        #if INSTEAD
            delegate = Keeper()
            assistant.delegate = delegate
        #else
            // warning: instance will be immediately deallocated because property 'delegate' is 'weak'
            assistant.delegate = Keeper()
        #endif
    }
}

// idiom: a conformance of a peer without @retroactive
// why: This package, or Apple, might declare the same conformance later.
// instead: Write `@retroactive`, or wrap the peer in a type of your own.

#if INSTEAD
    extension MCPeerID: @retroactive Identifiable {}
#else
    // warning: extension declares a conformance of imported type 'MCPeerID' to imported protocol 'Identifiable'
    extension MCPeerID: Identifiable {}
#endif

// idiom: a redundant conformance of a state to Sendable
// why: The enumerations are `Sendable` already.
// instead: Leave it out.

#if INSTEAD
    let states: [any Sendable] = [MCSessionState.connected]
#else
    // warning: conformance of 'MCSessionState' to protocol 'Sendable' was already stated
    extension MCSessionState: @unchecked @retroactive Sendable {}
#endif
