/// Where it is known from what must happen.
package struct Source: Sendable {
    let title: String
    let address: String?

    /// A link in the documentation's format.
    var link: String { address.map { "[\(title)](\($0))" } ?? title }

    private init(_ title: String, _ address: String?) { (self.title, self.address) = (title, address) }

    /// A page of Apple's reference of the framework; the title is a symbol.
    private static func page(_ title: String, _ path: String) -> Source {
        Source("`\(title)`", "https://developer.apple.com/documentation/multipeerconnectivity/\(path)")
    }

    private static func foundation(_ title: String, _ path: String) -> Source {
        Source("`\(title)`", "https://developer.apple.com/documentation/foundation/\(path)")
    }

    private static func issue(_ repository: String, _ number: Int) -> Source {
        Source("\(repository) #\(number)", "https://github.com/\(repository)/issues/\(number)")
    }
}

// What this package decides where Apple is silent.
extension Source {
    static let here = Source("<doc:WhatAppleLeavesOpen>", nil)
}

// Apple's reference.
extension Source {
    static let peerID = page("MCPeerID", "mcpeerid")
    static let displayName = page("MCPeerID.init(displayName:)", "mcpeerid/init(displayname:)")
    static let session = page("MCSession", "mcsession")
    static let sessionInit = page("MCSession.init(peer:)", "mcsession/init(peer:)")
    static let sessionFullInit = page(
        "MCSession.init(peer:securityIdentity:encryptionPreference:)",
        "mcsession/init(peer:securityidentity:encryptionpreference:)")
    static let sessionDelegate = page("MCSessionDelegate", "mcsessiondelegate")
    static let sessionState = page("MCSessionState", "mcsessionstate")
    static let didChange = page(
        "session(_:peer:didChange:)", "mcsessiondelegate/session(_:peer:didchange:)")
    static let connectedPeers = page("connectedPeers", "mcsession/connectedpeers")
    static let disconnect = page("disconnect()", "mcsession/disconnect()")
    static let send = page("send(_:toPeers:with:)", "mcsession/send(_:topeers:with:)")
    static let sendMode = page("MCSessionSendDataMode", "mcsessionsenddatamode")
    static let sendResource = page(
        "sendResource(at:withName:toPeer:withCompletionHandler:)",
        "mcsession/sendresource(at:withname:topeer:withcompletionhandler:)")
    static let didStartReceiving = page(
        "session(_:didStartReceivingResourceWithName:fromPeer:with:)",
        "mcsessiondelegate/session(_:didstartreceivingresourcewithname:frompeer:with:)")
    static let didFinishReceiving = page(
        "session(_:didFinishReceivingResourceWithName:fromPeer:at:withError:)",
        "mcsessiondelegate/session(_:didfinishreceivingresourcewithname:frompeer:at:witherror:)")
    static let startStream = page("startStream(withName:toPeer:)", "mcsession/startstream(withname:topeer:)")
    static let didReceiveStream = page(
        "session(_:didReceive:withName:fromPeer:)",
        "mcsessiondelegate/session(_:didreceive:withname:frompeer:)")
    static let didReceiveCertificate = page(
        "session(_:didReceiveCertificate:fromPeer:certificateHandler:)",
        "mcsessiondelegate/session(_:didreceivecertificate:frompeer:certificatehandler:)")
    static let encryption = page("MCEncryptionPreference", "mcencryptionpreference")
    static let connectionData = page(
        "nearbyConnectionData(forPeer:withCompletionHandler:)",
        "mcsession/nearbyconnectiondata(forpeer:withcompletionhandler:)")
    static let connectPeer = page(
        "connectPeer(_:withNearbyConnectionData:)", "mcsession/connectpeer(_:withnearbyconnectiondata:)")
    static let cancelConnect = page("cancelConnectPeer(_:)", "mcsession/cancelconnectpeer(_:)")
    static let errorCode = page("MCError.Code", "mcerror/code")
    static let advertiser = page("MCNearbyServiceAdvertiser", "mcnearbyserviceadvertiser")
    static let advertiserInit = page(
        "MCNearbyServiceAdvertiser.init(peer:discoveryInfo:serviceType:)",
        "mcnearbyserviceadvertiser/init(peer:discoveryinfo:servicetype:)")
    static let stopAdvertising = page(
        "stopAdvertisingPeer()", "mcnearbyserviceadvertiser/stopadvertisingpeer()")
    static let advertiserDelegate = page(
        "MCNearbyServiceAdvertiserDelegate", "mcnearbyserviceadvertiserdelegate")
    static let didReceiveInvitation = page(
        "advertiser(_:didReceiveInvitationFromPeer:withContext:invitationHandler:)",
        "mcnearbyserviceadvertiserdelegate/"
            + "advertiser(_:didreceiveinvitationfrompeer:withcontext:invitationhandler:)")
    static let didNotAdvertise = page(
        "advertiser(_:didNotStartAdvertisingPeer:)",
        "mcnearbyserviceadvertiserdelegate/advertiser(_:didnotstartadvertisingpeer:)")
    static let browser = page("MCNearbyServiceBrowser", "mcnearbyservicebrowser")
    static let startBrowsing = page(
        "startBrowsingForPeers()", "mcnearbyservicebrowser/startbrowsingforpeers()")
    static let stopBrowsing = page("stopBrowsingForPeers()", "mcnearbyservicebrowser/stopbrowsingforpeers()")
    static let invitePeer = page(
        "invitePeer(_:to:withContext:timeout:)",
        "mcnearbyservicebrowser/invitepeer(_:to:withcontext:timeout:)")
    static let foundPeer = page(
        "browser(_:foundPeer:withDiscoveryInfo:)",
        "mcnearbyservicebrowserdelegate/browser(_:foundpeer:withdiscoveryinfo:)")
    static let lostPeer = page(
        "browser(_:lostPeer:)", "mcnearbyservicebrowserdelegate/browser(_:lostpeer:)")
    static let didNotBrowse = page(
        "browser(_:didNotStartBrowsingForPeers:)",
        "mcnearbyservicebrowserdelegate/browser(_:didnotstartbrowsingforpeers:)")
    static let assistant = page("MCAdvertiserAssistant", "mcadvertiserassistant")
    static let assistantDelegate = page("MCAdvertiserAssistantDelegate", "mcadvertiserassistantdelegate")
    static let controller = page("MCBrowserViewController", "mcbrowserviewcontroller")
    static let controllerDelegate = page("MCBrowserViewControllerDelegate", "mcbrowserviewcontrollerdelegate")
    static let minimumPeers = page(
        "minimumNumberOfPeers", "mcbrowserviewcontroller/minimumnumberofpeers")
    static let maximumPeers = page(
        "maximumNumberOfPeers", "mcbrowserviewcontroller/maximumnumberofpeers")
    static let shouldPresent = page(
        "browserViewController(_:shouldPresentNearbyPeer:withDiscoveryInfo:)",
        "mcbrowserviewcontrollerdelegate/"
            + "browserviewcontroller(_:shouldpresentnearbypeer:withdiscoveryinfo:)")

    static let stream = foundation("Stream", "stream")
    static let streamEvent = foundation("Stream.Event", "stream/event")
    static let streamStatus = foundation("Stream.Status", "stream/status")
    static let streamSchedule = foundation("Stream.schedule(in:forMode:)", "stream/schedule(in:formode:)")
    static let streamClose = foundation("Stream.close()", "stream/close()")
    static let write = foundation("OutputStream.write(_:maxLength:)", "outputstream/write(_:maxlength:)")
    static let read = foundation("InputStream.read(_:maxLength:)", "inputstream/read(_:maxlength:)")
    static let progress = foundation("Progress", "progress")
    static let copying = foundation("NSCopying", "nscopying")
    static let secureCoding = foundation("NSSecureCoding", "nssecurecoding")

    static let readingStreams = Source(
        "Stream Programming Guide, reading",
        "https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Streams/Articles/"
            + "ReadingInputStreams.html")
    static let writingStreams = Source(
        "Stream Programming Guide, writing",
        "https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Streams/Articles/"
            + "WritingOutputStreams.html")
    static let note = Source(
        "TN3213",
        "https://developer.apple.com/documentation/technotes/"
            + "tn3213-moving-from-multipeer-connectivity-to-network-framework")
    /// The headers of the framework's software development kit, which are not on the web.
    static func header(_ name: String) -> Source { Source("header `\(name).h`", nil) }
}

// Talks, articles and threads of people who use the framework.
extension Source {
    static let talk2013 = Source("WWDC 2013, session 708", "https://asciiwwdc.com/2013/sessions/708")
    static let talk2014 = Source("WWDC 2014, session 709", "https://asciiwwdc.com/2014/sessions/709")
    static let darkCorners = Source(
        "Yeusiuchenia, The dark corners",
        "https://medium.com/@baydet/dark-corners-of-multipeer-connectivity-framework-abd566422920")
    static let nshipster = Source("NSHipster", "https://nshipster.com/multipeer-connectivity/")
    static let fennema = Source("Fennema, part 2", "https://peterfennema.nl/ios-multipeer-2/")
    static let reconnecting = issue("security-union/remote-shutter", 61)
    static let registering = Source(
        "DNS Service Discovery Programming Guide",
        "https://developer.apple.com/library/archive/documentation/Networking/Conceptual/dns_discovery_api/"
            + "Articles/registering.html")
    static let openStream = Source(
        "`CFStream.c`",
        "https://github.com/swiftlang/swift-corelibs-foundation/blob/main/Sources/CoreFoundation/CFStream.c")
    static let mainQueue = issue("berty/berty", 1885)
    static let ghostPeers = Source("Stack Overflow 34785439", "https://stackoverflow.com/questions/34785439")
    static let twoSessions = issue("thaliproject/Thali_CordovaPlugin", 789)
    static let hashOrder = issue("jpsim/PeerKit", 4)
    static let lostPeers = issue("thaliproject/Thali_CordovaPlugin", 1526)
    static let connectingFirst = issue("insidegui/MultipeerKit", 5)
    static let bindingTests = Source(
        "tests of xamarin-macios",
        "https://github.com/xamarin/xamarin-macios/blob/main/tests/monotouch-test/MultipeerConnectivity/"
            + "SessionTest.cs")
    static let txtRecords = Source("RFC 6763, section 6", "https://www.rfc-editor.org/rfc/rfc6763#section-6")
    static let serviceNames = Source(
        "RFC 6335, section 5.1", "https://www.rfc-editor.org/rfc/rfc6335#section-5.1")
}
