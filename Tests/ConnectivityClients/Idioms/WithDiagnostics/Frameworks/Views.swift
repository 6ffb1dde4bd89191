// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// Classes with a user interface on Apple's platforms.

// idiom: a browser view controller that is presented
// why: `MCBrowserViewController` is a model of that view here; there is no UIKit that could show it.
// instead: Call `start()`, and show its `nearbyPeers` in your own view.

@MainActor
final class Lobby {
    func join(_ session: MCSession) {
        let controller = MCBrowserViewController(serviceType: "idiom", session: session)
        #if INSTEAD
            controller.onChange = { [weak controller] in print(controller?.nearbyPeers.count ?? 0) }
            controller.start()
        #else
            // error: cannot find 'present' in scope
            present(controller, animated: true, completion: nil)
        #endif
    }
}

// idiom: a subclass of the browser view controller that overrides viewDidLoad
// why: `MCBrowserViewController` is not a `UIViewController` here: it has no view.
// instead: Subclass it for its values, and set `onChange` for what is shown.

@MainActor
final class Picker: MCBrowserViewController {
    #if INSTEAD
        func showAll(_ show: @escaping @MainActor (String) -> Void) {
            onChange = { [weak self] in self?.nearbyPeers.forEach { show($0.peerID.displayName) } }
        }
    #else
        // error: method does not override any method from its superclass
        override func viewDidLoad() {
            // error: value of type 'MCBrowserViewController' has no member 'viewDidLoad'
            super.viewDidLoad()
            // error: cannot find 'title' in scope
            title = "Peers"
        }
    #endif
}

// idiom: a view controller as a delegate
// why: There is no `UIViewController` on Linux.
// instead: Use any object that inherits from `NSObject`.

#if INSTEAD
    class RootController: NSObject, MCAdvertiserAssistantDelegate {}
#else
    // error: type 'RootController' does not conform to protocol 'NSObjectProtocol'
    // error: cannot find type 'UIViewController' in scope
    class RootController: UIViewController, MCAdvertiserAssistantDelegate {}
#endif
