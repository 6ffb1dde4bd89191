#if SystemDiscovery
    import MultipeerDiscovery
    import MultipeerPlatform

    /// One operation of `dns_sd.h`, which ends when the object is released. Lives on the loop.
    ///
    /// The only file with pointers of that library. Ownership: a callback gets the address of the object's `Replies`, which the
    /// object keeps, and does not retain it. The library calls back only inside the call that starts the operation and inside
    /// `DNSServiceProcessResult`, both made here on the loop's thread, and never after `DNSServiceRefDeallocate`, which `deinit`
    /// calls while it still has the replies. A callback only copies what it is given, and appends it to them: it does not call
    /// the library, and no pointer outlives it.
    ///
    /// Each call that starts an operation waits for the responder, which runs on the same machine.
    @safe
    final class DNSServiceOperation {
        /// What the callbacks of one call have reported.
        fileprivate final class Replies {
            var events: [SystemDNS.Event] = []
        }

        /// Only for `EventLoop.register`; deregister it before the operation goes.
        let descriptor: Int32
        private let reference: DNSServiceRef
        private let replies: Replies

        /// Starts the operation; its first events may be there at once.
        init(_ operation: SystemDNS.Operation) throws(ResponderFault) {
            let replies = Replies()
            var started: DNSServiceRef?
            let context = unsafe Unmanaged.passUnretained(replies).toOpaque()
            let status = unsafe DNSServiceOperation.start(operation, &started, context)
            if let fault = ResponderFault(status: status) { throw fault }
            guard let reference = unsafe started else { throw .notRunning }
            let descriptor = unsafe DNSServiceRefSockFD(reference)
            guard descriptor >= 0 else {
                unsafe DNSServiceRefDeallocate(reference)
                throw .notRunning
            }
            self.descriptor = descriptor
            unsafe self.reference = reference
            self.replies = replies
        }

        deinit { unsafe DNSServiceRefDeallocate(reference) }

        /// Reads what the responder has sent; only when the descriptor is readable, or it waits for that.
        func process() {
            let status = unsafe DNSServiceProcessResult(reference)
            if let fault = ResponderFault(status: status) { replies.events.append(.failed(fault)) }
        }

        /// Returns what was reported since the last time.
        func takeEvents() -> [SystemDNS.Event] {
            defer { replies.events = [] }
            return replies.events
        }

        /// Replaces the TXT record of a registration.
        func update(txt: [UInt8]) throws(ResponderFault) {
            let status = unsafe DNSServiceUpdateRecord(
                reference, nil, 0, UInt16(clamping: txt.count), txt, 0)
            if let fault = ResponderFault(status: status) { throw fault }
        }

        /// Asks the responder to check whether a record still exists.
        static func reconfirm(_ name: DNSName, _ type: DNSType, _ data: [UInt8], on interface: UInt32) {
            guard ServiceDiscovery.reconfirms else { return }
            // Without effect when it fails: the record then expires as any other.
            _ = unsafe DNSServiceReconfirmRecord(
                0, interface, name.escaped, type.rawValue, Replies.internet, UInt16(clamping: data.count),
                data)
        }
    }

    extension DNSServiceOperation {
        private static let domain = "local."

        private static func start(
            _ operation: SystemDNS.Operation, _ reference: inout DNSServiceRef?,
            _ context: UnsafeMutableRawPointer
        ) -> DNSServiceErrorType {
            switch operation {
            case .register(let label, let type, let port, let txt, let interface):
                return unsafe DNSServiceRegister(
                    &reference, ServiceDiscovery.registrationFlags, interface, label, "_\(type.name)._tcp",
                    domain, nil,
                    port.bigEndian, UInt16(clamping: txt.count), txt,
                    { _, _, status, name, _, _, context in
                        unsafe Replies.report(status, context) {
                            .registered(label: unsafe Replies.bytes(name))
                        }
                    }, context)
            case .browse(let type, let interface):
                return unsafe DNSServiceBrowse(
                    &reference, 0, interface, "_\(type.name)._tcp", domain,
                    { _, flags, interface, status, name, _, _, context in
                        unsafe Replies.report(status, context) {
                            .instance(
                                label: unsafe Replies.bytes(name), isAdded: Replies.isAdded(flags),
                                interface: interface)
                        }
                    }, context)
            case .query(let name, let type, let interface):
                return unsafe DNSServiceQueryRecord(
                    &reference, 0, interface, name.escaped, type.rawValue, Replies.internet,
                    { _, flags, interface, status, _, type, kind, count, data, _, context in
                        if Replies.absent.contains(status)
                            || status == 0 && (kind != Replies.internet || count > Replies.longestData)
                        {
                            return
                        }
                        unsafe Replies.report(status, context) {
                            .record(
                                DNSType(rawValue: type), unsafe Replies.bytes(data, Int(count)),
                                isAdded: Replies.isAdded(flags),
                                interface: interface)
                        }
                    }, context)
            }
        }
    }

    /// What callbacks do. They capture nothing, not even a type.
    extension DNSServiceOperation.Replies {
        /// The class of all records.
        fileprivate static let internet: UInt16 = 1
        /// The maximum length of a text with its zero byte, `kDNSServiceMaxDomainName`.
        fileprivate static let longestText = 1_009
        /// The maximum size of data that are copied: those of every record of this protocol are smaller.
        fileprivate static let longestData = 4_096
        /// There is no such name, and no such record: news about neither.
        fileprivate static let absent: Set<Int32> = [-65_538, -65_554]

        /// Appends the event to the replies at `context`, or the fault that the status stands for.
        fileprivate static func report(
            _ status: DNSServiceErrorType, _ context: UnsafeMutableRawPointer?, _ event: () -> SystemDNS.Event
        ) {
            guard let context = unsafe context else { return }
            let replies = unsafe Unmanaged<DNSServiceOperation.Replies>.fromOpaque(context)
                .takeUnretainedValue()
            replies.events.append(ResponderFault(status: status).map { .failed($0) } ?? event())
        }

        fileprivate static func isAdded(_ flags: DNSServiceFlags) -> Bool {
            flags & DNSServiceFlags(kDNSServiceFlagsAdd) != 0
        }

        fileprivate static func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
            guard let text = unsafe text else { return [] }
            return unsafe bytes(text, strnlen(text, longestText))
        }

        fileprivate static func bytes(_ data: UnsafeRawPointer?, _ count: Int) -> [UInt8] {
            unsafe [UInt8](UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count))
        }
    }
#endif
