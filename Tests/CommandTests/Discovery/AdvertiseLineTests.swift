import Multipeer
import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: the lines of advertise", .computing)
struct AdvertiseLineTests {
    @Test("a line about an invitation that another peer contests says so")
    func contested() throws {
        let ann = try PeerID(displayName: "ann")
        let fields = "invited\t\(ann.id)\tann\thi"
        for (isContested, text) in [(nil, fields), (false, fields), (true, fields + "\tcontested")] {
            let line = AdvertiseLine(.invited, ann, context: Array("hi".utf8), contested: isContested)
            #expect(line.text == text)
        }
    }
}
