import MultipeerConnectivity

extension Program {
    static let progress: [Program] = [
        Program(
            "progress.sender",
            "The progress of the sender counts bytes, and is complete when the handler is called.",
            .progress,
            left: { app in
                let right = try await app.connect()
                let file = try app.file("file", Application.bytes(700_000))
                let progress = app.session.sendResource(at: file, withName: "file", toPeer: right) {
                    app.note("sent", $0)
                }
                app.expect(progress?.totalUnitCount, is: 700_000, "the total")
                app.expect(progress?.isFinished, is: false, "whether it is finished at once")
                try await app.wait("sent")
                app.expect(progress?.completedUnitCount, is: 700_000, "the completed units")
                app.expect(progress?.fractionCompleted, is: 1, "the fraction")
                app.expect(progress?.isFinished, is: true, "whether it is finished")
            },
            right: { app in
                try await app.connect()
                try await app.wait("received file")
            }),
        Program(
            "progress.receiver",
            "The progress of the receiver knows the total from the start, and is complete at the end.",
            .didStartReceiving,
            left: { app in
                let right = try await app.connect()
                let file = try app.file("file", Application.bytes(700_000))
                app.session.sendResource(at: file, withName: "file", toPeer: right) { app.note("sent", $0) }
                try await app.wait("sent")
            },
            right: { app in
                @Guarded var progress: Progress? = nil
                app.onResourceStart = { [$progress] _, _, started in
                    app.expect(started.totalUnitCount, is: 700_000, "the total")
                    app.expect(started.completedUnitCount, is: 0, "the completed units")
                    $progress.wrappedValue = started
                }
                app.onResourceEnd = { [$progress] _, _, _ in
                    app.expect(
                        $progress.wrappedValue?.fractionCompleted, is: 1, "the fraction in the last call")
                }
                try await app.connect()
                try await app.wait("received file")
            }),
        Program(
            "progress.parent", "The progress of a file becomes a child of the current progress.",
            .header("MCSession"),
            left: { app in
                let right = try await app.connect()
                let parent = Progress(totalUnitCount: 10)
                func send(_ name: String) throws {
                    let file = try app.file(name, Application.bytes(100_000))
                    parent.becomeCurrent(withPendingUnitCount: 5)
                    app.session.sendResource(at: file, withName: name, toPeer: right) { app.note("sent", $0) }
                    parent.resignCurrent()
                }
                try send("one")
                try send("other")
                app.expect(!parent.isFinished, "the parent is not finished at once")
                try await app.wait("sent", "sent")
                app.expect(parent.fractionCompleted, is: 1, "the fraction of the parent")
            },
            right: { app in
                try await app.connect()
                try await app.wait("received one", "received other")
            }),
        Program(
            "progress.monotonic", "The fraction of a transfer never goes back.", .progress,
            left: { app in
                let right = try await app.connect()
                let file = try app.file("file", Application.bytes(4 << 20))
                let progress = app.session.sendResource(at: file, withName: "file", toPeer: right) {
                    app.note("sent", $0)
                }
                guard let progress else { throw Failure("there is no progress") }
                var last = 0.0
                for await fraction in progress.fractions {
                    app.expect(fraction >= last, "\(fraction) is not less than \(last)")
                    last = fraction
                }
                app.expect(last, is: 1, "the last fraction")
                try await app.wait("sent")
            },
            right: { app in
                try await app.connect()
                try await app.wait("received file")
            }),
        Program(
            "progress.cancel-sending",
            "A sender that cancels the progress ends the transfer with an error on both sides.",
            .sendResource,
            left: { app in
                let right = try await app.connect()
                let progress = app.session.sendResource(
                    at: try app.endlessFile(), withName: "long", toPeer: right
                ) {
                    app.note("sent", $0)
                }
                try await app.posted("receiving")
                progress?.cancel()
                try await app.wait("sent: cancelled")
                app.expect(progress?.isCancelled, is: true, "whether the progress is cancelled")
            },
            right: { app in
                app.onResourceEnd = { _, url, _ in app.expect(url == nil, "there is no file") }
                try await app.connect()
                try await app.wait("receiving long")
                app.post("receiving")
                try await app.wait("received long: cancelled")
            }),
        Program(
            "progress.cancel-receiving",
            "A receiver that cancels the progress ends the transfer with an error on both sides.",
            .didStartReceiving,
            left: { app in
                let right = try await app.connect()
                app.session.sendResource(at: try app.endlessFile(), withName: "long", toPeer: right) {
                    app.note("sent", $0)
                }
                try await app.wait("sent: cancelled")
            },
            right: { app in
                app.onResourceStart = { _, _, progress in DispatchQueue.main.async { progress.cancel() } }
                app.onResourceEnd = { _, url, _ in app.expect(url == nil, "there is no file") }
                try await app.connect()
                try await app.wait("receiving long", "received long: cancelled")
            }),
        Program(
            "progress.cancel-at-once", "A receiver may cancel inside the call that reports the beginning.",
            .didStartReceiving,
            left: { app in
                let right = try await app.connect()
                app.session.sendResource(at: try app.endlessFile(), withName: "long", toPeer: right) {
                    app.note("sent", $0)
                }
                try await app.wait("sent: cancelled")
                try app.say("next", to: right)
            },
            right: { app in
                app.onResourceStart = { _, _, progress in progress.cancel() }
                try await app.connect()
                try await app.wait("received long: cancelled", "left: next")
            }),
    ]
}
