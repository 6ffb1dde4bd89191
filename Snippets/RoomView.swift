// The samples of "A room in SwiftUI", and that of the README; a test checks that each of them is here. Where there is no
// SwiftUI, everything but the views is compiled.

import Foundation
import Multipeer
import MultipeerObservation
import Observation

#if canImport(SwiftUI)
    import SwiftUI
#endif

// MARK: without a view

@MainActor func acceptEveryone() async throws {
    let room = try RoomModel(peer: PeerID(displayName: "ann"), service: "chat")
    room.start()  // in SwiftUI: .task { await room.run() }
    for await invitations in Observations({ room.invitations }) {
        for invitation in invitations { room.accept(invitation) }  // or show two buttons
    }
}

// MARK: what the views show

@Observable
@MainActor final class Lobby {
    private(set) var room: RoomModel?
    private(set) var problem: String?

    func join(as name: String) {
        do {
            room = try RoomModel(peer: PeerID(displayName: name), service: "chat")
        } catch {
            problem = "\(error)"  // the name is empty or too long
        }
    }
}

extension RoomModel.Peer {
    var caption: String {
        switch state {
        case .nearby: "\(name) is nearby"
        case .invited: "\(name) is invited"
        case .connecting: "\(name) is joining"
        case .connected: name
        }
    }
}

extension RoomModel.Transfer {
    var caption: String {
        switch state {
        case .waiting where isIncoming: "\(peer.displayName) offers \(name)"
        case .waiting: "\(name) waits for \(peer.displayName)"
        case .running: "\(name): \(progress?.description ?? "")"
        case .finished: "\(name) has arrived"
        case .failed(let error): "\(name) has not arrived: \(error)"
        }
    }
}

extension RoomModel {
    func caption(of message: Message) -> String {
        let sender = message.sender == peer ? "you" : message.sender.displayName
        return "\(sender): \(message.text ?? "\(message.bytes.count) bytes")"
    }
}

// MARK: the views

#if canImport(SwiftUI)
    struct LobbyView: View {
        @State private var lobby = Lobby()
        @State private var name = ""

        var body: some View {
            if let room = lobby.room {
                RoomView(room: room)
            } else {
                TextField("Your name", text: $name).onSubmit { lobby.join(as: name) }
                Text(lobby.problem ?? "")
            }
        }
    }

    struct RoomView: View {
        let room: RoomModel
        @State private var draft = ""

        var body: some View {
            VStack {
                List {
                    Section("In the room") {
                        ForEach(room.members) { peer in
                            Text(peer.caption)
                                .dropDestination(for: URL.self) { files, _ in
                                    for file in files { room.send(file: file, to: peer.id) }
                                    return true
                                }
                        }
                    }
                    Section("Nearby") {
                        ForEach(room.nearby) { peer in
                            Button(peer.caption) { room.invite(peer.id) }
                        }
                        ForEach(room.invitations) { invitation in
                            HStack {
                                Text("\(invitation.inviter.displayName) invites you")
                                Button("Accept") { room.accept(invitation) }
                                Button("Decline") { room.decline(invitation) }
                            }
                        }
                    }
                    Section("Messages") {
                        ForEach(room.messages) { message in Text(room.caption(of: message)) }
                    }
                    Section("Files") {
                        ForEach(room.transfers) { transfer in TransferRow(room: room, transfer: transfer) }
                    }
                    Section("Problems") {
                        ForEach(room.failures) { failure in
                            Button(failure.error.description) { room.dismiss(failure) }
                        }
                    }
                }
                TextField("Message", text: $draft).onSubmit {
                    room.send(draft)
                    draft = ""
                }
            }
            .task { await room.run() }
        }
    }

    struct TransferRow: View {
        let room: RoomModel
        let transfer: RoomModel.Transfer

        var body: some View {
            HStack {
                Text(transfer.caption)
                ProgressView(value: transfer.progress?.fractionCompleted ?? 0)
                if transfer.isIncoming, transfer.state == .waiting {
                    Button("Receive") { room.receive(transfer) }
                }
                Button("Cancel") { room.cancel(transfer) }
            }
        }
    }
#endif
