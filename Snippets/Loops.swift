// The samples of the article on loops, endings and cancellation. The file is only compiled.

import Multipeer

func meet(_ advertiser: Advertiser, _ session: Session) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            for await invitation in advertiser.invitations { try await invitation.accept(into: session) }
        }
        group.addTask {
            for await event in session.events { print(event) }
        }
        try await advertiser.start()
        await conversation(in: session)
        await advertiser.stop()  // ends the first loop
        await session.disconnect()  // ends the second
    }
}

func conversation(in session: Session) async {}

func connect(_ data: ConnectionData, with session: Session) async throws {
    do {
        try await session.connect(with: data)
    } catch let error where error.code == .cancelled {
        try Task.checkCancellation()  // this task: CancellationError
        print("cancelled by the peer or by another task")
    }
}
