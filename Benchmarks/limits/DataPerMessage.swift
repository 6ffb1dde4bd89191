// SPDX-License-Identifier: Apache-2.0
//
// The limit of Apple's API for small messages: what each of them costs at both sides, with nothing sent in between. The caller
// has a `Data` and makes an array of peers, and the bytes are copied, since it may change them; the receiver makes a `Data` and
// calls a delegate that is not kept alive. Both without TLS, frames, credit and a loop, which share the core of the caller or the
// receiver: what a message of the native API takes comes on top.
import Dispatch
import Foundation
import Synchronization

final class Peer: Sendable {}

protocol ReceiverDelegate: AnyObject {
    func session(_ session: Receiver, didReceive data: Data, fromPeer peer: Peer)
}

class Receiver {
    weak var delegate: (any ReceiverDelegate)?
}

final class Counter: ReceiverDelegate {
    var count = 0
    func session(_ session: Receiver, didReceive data: Data, fromPeer peer: Peer) {
        guard data.count == 64, data.first == 0x5A else { return }
        count += 1
    }
}

/// From the caller's thread to another: an array for each message, as libraries keep what their callers may change.
final class Queue: Sendable {
    private let messages = Mutex<[[UInt8]]>([])

    /// Returns whether it was empty.
    func send(_ data: Data, toPeers peers: [Peer]) -> Bool {
        let bytes = data.withUnsafeBytes { [UInt8]($0) }
        return messages.withLock { messages in
            messages.append(bytes)
            return messages.count == 1
        }
    }

    func take() -> [[UInt8]] {
        messages.withLock { messages in
            let taken = messages
            messages = []
            return taken
        }
    }
}

/// Retains one object, and releases another.
@inline(never)
func hold(_ object: AnyObject, in place: inout AnyObject?) { place = object }

@inline(never)
func use(_ data: Data, _ peers: [Peer]) -> Int { data.count + peers.count }

@main
enum DataPerMessage {
    private static let count = 2_000_000
    private static let batch = 1_000
    private static let peer = Peer()

    static func main() {
        var total = 0
        report("caller: a Data and an array of one peer") {
            for _ in 0..<count { total += use(Data(repeating: 0x5A, count: 64), [peer]) }
        }
        let queue = Queue()
        let data = Data(repeating: 0x5A, count: 64)
        report("caller: an array of one peer, and the bytes copied into a queue under a lock, and released") {
            for index in 0..<count {
                _ = queue.send(data, toPeers: [peer])
                if index % batch == 0 { total += queue.take().count }
            }
        }
        let (receiver, counter) = (Receiver(), Counter())
        receiver.delegate = counter
        let bytes = [UInt8](repeating: 0x5A, count: 64 * batch)
        report("receiver: a Data of bytes that arrived, and a delegate's call") {
            for _ in 0..<(count / batch) {
                guard let delegate = receiver.delegate else { return }
                for index in 0..<batch {
                    let data = bytes[(index * 64)..<(index * 64 + 64)].withUnsafeBytes { Data($0) }
                    delegate.session(receiver, didReceive: data, fromPeer: peer)
                }
            }
        }
        var place: AnyObject?
        report("a retain and a release of an object") {
            for _ in 0..<count { hold(receiver, in: &place) }
        }
        report("a retain and a release of an object that is referenced weakly, too") {
            for _ in 0..<count { hold(counter, in: &place) }
        }
        guard total > 0, counter.count == count else { exit(1) }
        _ = queue.take()
        let done = DispatchSemaphore(value: 0)
        let delegates = DispatchQueue(label: "delegate")
        let received = Mutex(0)
        report("from a caller to a delegate's queue of the same process") {
            for _ in 0..<count {
                guard queue.send(data, toPeers: [peer]) else { continue }
                delegates.async {
                    var sum = 0
                    for message in queue.take() { sum += use(Data(message), [peer]) - 64 }
                    let all = received.withLock { received in
                        received += sum
                        return received
                    }
                    if all == count { done.signal() }
                }
            }
            done.wait()
        }
    }

    private static func report(_ what: String, _ body: () -> Void) {
        let clock = SuspendingClock()
        let start = clock.now
        body()
        let (seconds, attoseconds) = (clock.now - start).components
        let nanos = (Double(seconds) + Double(attoseconds) / 1e18) / Double(count) * 1e9
        print("{\"what\": \"\(what)\", \"value\": \(nanos), \"unit\": \"ns\"}")
    }
}
