/// The faults of the reference peer, one for each run. Each is one condition at the place where the rule is kept.
package enum Bug: String, CaseIterable, Sendable {
    // MARK: DATA
    case dataUnsorted = "data-unsorted"  // Issues data whose entries are not in order.
    case dataLimit512 = "data-limit-512"  // Refuses data of more than 512 bytes.
    case dataRefusesUnknown = "data-refuses-unknown"  // Refuses entries that it does not know.
    case dataIgnoresCritical = "data-ignores-critical"  // Passes over unknown entries with bit 15 set.
    case dataIgnoresOrder = "data-ignores-order"  // Takes entries in any order.
    case dataCrashesShort = "data-crashes-short"  // Crashes with data that is too short.
    case dataIgnoresChecksum = "data-ignores-checksum"  // Does not look at the checksum.
    case dataIgnoresVersion = "data-ignores-version"  // Does not look at the version.
    case nameUnchecked = "name-unchecked"  // Takes any bytes for a name.
    case dataAnyPreference = "data-any-preference"  // Takes an unknown preference for optional.
    // Does without a fingerprint, and takes any algorithm.
    case dataFingerprintOptional = "data-fingerprint-optional"
    case connectsToItself = "connects-to-itself"  // Seeks a peer with its own uid.
    case dataIgnoresRecipient = "data-ignores-recipient"  // Uses data that is addressed to somebody else.
    case dataNewEachTime = "data-new-each-time"  // Issues new data each time it is asked.
    case dataWithoutLifetime = "data-without-lifetime"  // Issues data without LIFETIME.
    case dataToAnybody = "data-to-anybody"  // Leaves RECIPIENT out of its data.
    case dataIgnoresDuplicates = "data-ignores-duplicates"  // Takes entries twice.
    case dataTokenUnchecked = "data-token-unchecked"  // Takes tokens of any size.
    case dataNeverExpires = "data-never-expires"  // Takes HELLO with data that has expired.
    case dialsForbidden = "dials-forbidden"  // Dials whatever address it is given.
    case dialsLowPort = "dials-low-port"  // Dials ports below 1024.
    case dialsAllAtOnce = "dials-all-at-once"  // Dials all candidates at once.

    // MARK: ENC
    case encPrefersPlain = "enc-prefers-plain"  // Makes plain connections where TLS is due.
    case encPrefersTls = "enc-prefers-tls"  // Makes TLS connections where plain ones are due.
    // Links without TLS where the preferences exclude each other.
    case noneLinksRequired = "none-links-required"
    case identityStaysOptional = "identity-stays-optional"  // An identity does not make optional required.
    // Reads frames on a plain connection though it requires TLS.
    case acceptsPlainWhenRequired = "accepts-plain-when-required"
    case plainIgnoresFirstByte = "plain-ignores-first-byte"  // Shakes hands though its preference is none.
    case acceptsTls12 = "accepts-tls-1.2"  // Accepts TLS 1.2.
    case alpnUnchecked = "alpn-unchecked"  // Does not care for ALPN.
    case skipsClientCertificate = "skips-client-certificate"  // Asks no client for its certificate.
    case ignoresFingerprint = "ignores-fingerprint"  // Takes any certificate.
    case chainUnbounded = "chain-unbounded"  // Takes chains of any length.
    case checksDates = "checks-dates"  // Looks at the dates of a pinned certificate.
    case handsOutTickets = "hands-out-tickets"  // Hands out session tickets.
    case offersTwoProtocols = "offers-two-protocols"  // Offers another ALPN name, too.
    // Delivers what has come of a message when the connection is cut.
    case truncationDelivers = "truncation-delivers"
    case confirmsBeforeTrust = "confirms-before-trust"  // Links whatever its application says.
    case trustWithoutDeadline = "trust-without-deadline"  // Waits for its application without end.
    case asksTwice = "asks-twice"  // Asks its application for each connection.

    // MARK: LINK
    case neverAnswersSelect = "never-answers-select"  // Does not answer SELECT.
    case lowerWaits = "lower-waits"  // Waits with dialling when it has the lower uid.
    case higherNeverDials = "higher-never-dials"  // Never dials when it has the higher uid.
    case higherDialsAtOnce = "higher-dials-at-once"  // Dials at once when it has the higher uid.
    // Gives up when the peer does not await it yet.
    case givesUpAfterUnknownPeer = "gives-up-after-unknown-peer"
    case retriesWithoutPause = "retries-without-pause"  // Dials again at once.
    case neverRetries = "never-retries"  // Dials once.
    case attemptWithoutDeadline = "attempt-without-deadline"  // Seeks a peer for ever.
    case helloIncompleteAccepted = "hello-incomplete-accepted"  // Does without any entry of HELLO.
    case helloSizesUnchecked = "hello-sizes-unchecked"  // Takes entries of HELLO of any size.
    case helloAnyVersion = "hello-any-version"  // Does not look at the versions.
    case helloMembersUnbounded = "hello-members-unbounded"  // Takes any number of members in HELLO.
    case initiatorTrustsHello = "initiator-trusts-hello"  // Does not check a HELLO that answers its own.
    case helloRefusesGreaseVersion = "hello-refuses-grease-version"  // Refuses lists of several versions.
    case helloIgnoresReceiver = "hello-ignores-receiver"  // Does not look at RECEIVER.
    case helloIgnoresInstance = "hello-ignores-instance"  // Looks only at the uids of endpoints.
    case helloIgnoresRefs = "hello-ignores-refs"  // Does not look at the references.
    case helloKeyOfAnybody = "hello-key-of-anybody"  // Takes the certificate of any peer that it awaits.
    case macUnchecked = "mac-unchecked"  // Takes any CONFIRM.
    case macPrefixChecked = "mac-prefix-checked"  // Compares half of the mac.
    case macWithoutBinding = "mac-without-binding"  // Leaves the binding out of the mac.
    case macWithoutRole = "mac-without-role"  // Takes its own CONFIRM.
    case macRoleWrong = "mac-role-wrong"  // Makes its mac with the role of the other end.
    case helloTwice = "hello-twice"  // Takes a second HELLO.
    case confirmAnyOrder = "confirm-any-order"  // Passes over a CONFIRM out of order.
    case limitBeforeUnchecked = "limit-before-unchecked"  // Takes frames of 64 KiB before the link.
    case messageBeforeSelect = "message-before-select"  // Delivers messages before the link.
    case selectFromAnybody = "select-from-anybody"  // Takes SELECT from the higher uid.
    case selectsAll = "selects-all"  // Selects each candidate.
    case twoLinksPerPair = "two-links-per-pair"  // Keeps other candidates behind SELECTED.
    case replacesLivingLink = "replaces-living-link"  // Replaces a link that lives.
    case neverSelectsNext = "never-selects-next"  // Does not select another candidate when one dies.
    case keepsStaleLink = "keeps-stale-link"  // Keeps the old link when SELECT comes.
    case supersedesLivingLink = "supersedes-living-link"  // Ends a link that lives when SELECT comes.
    case neverProbes = "never-probes"  // Takes every old link for alive.
    case newInstancePushesOut = "new-instance-pushes-out"  // Another instance replaces a living link.
    case handshakeWithoutDeadline = "handshake-without-deadline"  // Waits for HELLO without end.
    case unauthenticatedUnbounded = "unauthenticated-unbounded"  // Keeps any number of strangers.
    case cancelIgnored = "cancel-ignored"  // Links with a peer that its application called off.
    case helloInOneRead = "hello-in-one-read"  // Takes HELLO only in one piece.
    case remembersInstance = "remembers-instance"  // Takes every old instance for alive.

    // MARK: FRM
    case skipsUnknownKinds = "skips-unknown-kinds"  // Passes over every kind that it does not know.
    case refusesIgnorable = "refuses-ignorable"  // Refuses every kind that it does not know.
    case frameLimitUnchecked = "frame-limit-unchecked"  // Reads frames of any length.
    case channelUnchecked = "channel-unchecked"  // Does not look at the channel.
    case oneFramePerRead = "one-frame-per-read"  // Handles the first frame of what comes at once.
    case deliversAfterClose = "delivers-after-close"  // Handles what comes behind CLOSE.
    case refusesStrayPong = "refuses-stray-pong"  // Refuses a PONG that it did not ask for.
    case answersClose = "answers-close"  // Answers CLOSE with CLOSE.
    case pongBehindMessages = "pong-behind-messages"  // Answers PING behind all messages.
    case payloadSizeUnchecked = "payload-size-unchecked"  // Takes payloads of any size.
    case refusesUnknownCode = "refuses-unknown-code"  // Refuses codes that it does not know.
    case sendsReservedKind = "sends-reserved-kind"  // Sends a kind that is not assigned.
    case pongOtherBytes = "pong-other-bytes"  // Answers PING with other bytes.

    // MARK: MSG
    case longMessageStalls = "long-message-stalls"  // Returns no credit for a message in reassembly.
    case messageUnbounded = "message-unbounded"  // Takes messages of any length.
    case reordersMessages = "reorders-messages"  // Delivers every hundredth message behind the next.
    case cutsLastByte = "cuts-last-byte"  // Loses the last byte of a message.
    case dropsEmptyMessage = "drops-empty-message"  // Does not deliver empty messages.
    case losesAMessage = "loses-a-message"  // Loses every hundredth message.
    case partSizeUnchecked = "part-size-unchecked"  // Takes parts of any size.
    case ignoresMaxMessage = "ignores-max-message"  // Sends messages of any length.
    case sendsBeyondCredit = "sends-beyond-credit"  // Sends without credit.
    case creditMayShrink = "credit-may-shrink"  // Takes a limit that does not grow.
    case noCreditCheck = "no-credit-check"  // Does not count what it receives.
    case costOffBy64 = "cost-off-by-64"  // Counts the payload of what comes alone.
    // Counts what comes against the usual windows, whatever its HELLO granted.
    case countsTheUsualWindow = "counts-the-usual-window"
    case costWithoutOverhead = "cost-without-overhead"  // Counts the payload of what it sends alone.
    case forgetsUnsent = "forgets-unsent"  // Does not report what was not handed over.
    case creditLate = "credit-late"  // Returns credit every 3 s.
    // Returns credit for messages that nobody took.
    case returnsCreditOnArrival = "returns-credit-on-arrival"
    case sendsToSome = "sends-to-some"  // Sends to those who are connected.

    // MARK: CHN
    case streamLosesTail = "stream-loses-tail"  // Loses the last byte of a stream.
    case finIsSilent = "fin-is-silent"  // Does not tell that a stream is complete.
    case ignoresStop = "ignores-stop"  // Goes on sending behind STOP.
    case resetIsAnEnd = "reset-is-an-end"  // Takes RESET for a proper end.
    case channelsWithoutLimit = "channels-without-limit"  // Takes any number of channels.
    case reusesChannelNumbers = "reuses-channel-numbers"  // Takes a number that came before.
    case dataOnAnyChannel = "data-on-any-channel"  // Passes over DATA of channels that were never opened.
    case refusesLateData = "refuses-late-data"  // Refuses DATA behind its STOP.
    case dataBehindFin = "data-behind-fin"  // Takes DATA behind FIN.
    case noChannelCreditCheck = "no-channel-credit-check"  // Does not count what comes on a channel.
    // Serves streams strictly in the order of their numbers.
    case stalledStreamStallsAll = "stalled-stream-stalls-all"
    case resetsWithoutLimit = "resets-without-limit"  // Takes any number of resets.
    case emptyDataWithoutLimit = "empty-data-without-limit"  // Takes any number of empty DATA.
    case streamsOutliveLink = "streams-outlive-link"  // Does not tell streams that their link has ended.
    case channelKindUnchecked = "channel-kind-unchecked"  // Takes channels of a kind that it does not know.
    case channelNameUnchecked = "channel-name-unchecked"  // Takes any bytes for the name of a channel.
    case channelCreditMayFall = "channel-credit-may-fall"  // Takes a limit of a channel that does not grow.
    case sendsBeyondChannelCredit = "sends-beyond-channel-credit"  // Sends on channels without credit.

    // MARK: RES
    case ignoresSize = "ignores-size"  // Does not look at SIZE.
    case ignoresDigest = "ignores-digest"  // Does not look at DIGEST.
    case keepsCancelledFiles = "keeps-cancelled-files"  // Leaves half a file behind.
    case cancelsSilently = "cancels-silently"  // Does not say that it gave up.
    case doneNotAwaited = "done-not-awaited"  // Reports a resource as sent when FIN is.
    case lostLinkIsSuccess = "lost-link-is-success"  // Reports a resource as sent when the link ends.
    case pathOfName = "path-of-name"  // Stores a resource under its name.
    case cleansNames = "cleans-names"  // Changes the name of a resource.
    case filesForEveryone = "files-for-everyone"  // Stores files that everybody can read.
    case resourcesNotAcknowledged = "resources-not-acknowledged"  // Sends no DONE.
    case fullDiskIsSilent = "full-disk-is-silent"  // Does not say that it cannot store more.
    case oneResourceAtATime = "one-resource-at-a-time"  // Grants credit to the first resource alone.
    // Sends no message while a resource is under way.
    case messagesBehindResources = "messages-behind-resources"
    case shortFileIsSuccess = "short-file-is-success"  // Sends what there is of a file, and is content.

    // MARK: MSH
    case neverIntroduces = "never-introduces"  // Tells nobody of its members.
    case admitsNinth = "admits-ninth"  // Does not count members.
    case believesOld = "believes-old"  // Takes an older entry for a newer one.
    case believesForgery = "believes-forgery"  // Believes what others say of itself.
    case entriesUnchecked = "entries-unchecked"  // Passes over a malformed MEMBERS.
    case dialsOneSided = "dials-one-sided"  // Dials whoever is listed.
    case membersWithoutLimit = "members-without-limit"  // Takes any number of MEMBERS.
    case tellsOverPlain = "tells-over-plain"  // Introduces over plain links though it prefers TLS.
    case introducesManual = "introduces-manual"  // Introduces peers whose data has no MESH.
    case neverLeaves = "never-leaves"  // Does not care how many members there are.
    case neverRanks = "never-ranks"  // Knows no other order of members than that of uids.
    case neverDismisses = "never-dismisses"  // Keeps its link to the one too many for ever.
    // Believes at once what is said of one that it sent away.
    case believesOfDismissed = "believes-of-dismissed"
    case countsSleep = "counts-sleep"  // Counts time in which it did not run.

    // MARK: INV
    case inviteDataOnDecline = "invite-data-on-decline"  // Sends its data with a refusal.
    case inviteContextUnlimited = "invite-context-unlimited"  // Takes a context of any length.
    case inviteAnswersLate = "invite-answers-late"  // Takes an answer when the time is over.
    case inviteAsksEachTime = "invite-asks-each-time"  // Asks once for each connection.
    case inviteUnlimited = "invite-unlimited"  // Holds any number of questions.
    case inviteAnyRecipient = "invite-any-recipient"  // Takes invitations to others.
    case inviteCompleteFirst = "invite-complete-first"  // Takes COMPLETE before its ANSWER.
    case inviteDataOfAnyone = "invite-data-of-anyone"  // Takes the data of somebody else.
    case inviteOnSessionAlpn = "invite-on-session-alpn"  // Takes invitations under any ALPN name.
    // Begins another link when an invitation comes to a yes between two that are linked.
    case inviteLinksLinkedAgain = "invite-links-linked-again"
    case inviteRefusesCrossing = "invite-refuses-crossing"  // Says BUSY to whom it is inviting itself.
    case inviteIgnoresSeats = "invite-ignores-seats"  // Invites itself where no seat is left.
    case inviteOutlivesAdvertising = "invite-outlives-advertising"  // Keeps questions when advertising ends.

    case inviteTellsEarly = "invite-tells-early"  // Says yes before its application did.
    case inviteStaysWithdrawn = "invite-stays-withdrawn"  // Keeps a question whose inviter has gone.
    case inviteWithoutDeadline = "invite-without-deadline"  // Waits for INVITE without end.
    case inviteCompletesEarly = "invite-completes-early"  // Sends COMPLETE with INVITE.
    case inviteAnyAnswer = "invite-any-answer"  // Takes an ANSWER to any invitation.
    case inviteGivesUpBusy = "invite-gives-up-busy"  // Gives up when it hears BUSY.

    // MARK: LIV
    case neverPings = "never-pings"  // Sends no PING.
    case neverDies = "never-dies"  // Keeps dead links.
    case judgesAfterSuspension = "judges-after-suspension"  // Gives a peer no time after its own suspension.
    case queuesWithoutLimit = "queues-without-limit"  // Queues whatever its application sends.
    case wantsPongs = "wants-pongs"  // Takes nothing but PONG for a sign of life.
    case leavesWithoutGoodbye = "leaves-without-goodbye"  // Disconnects without CLOSE.
    case tellsStatesTwice = "tells-states-twice"  // Tells notConnected twice.

    // MARK: LIM
    case pingsWithoutLimit = "pings-without-limit"  // Takes any number of control frames.
    case creditsWithoutLimit = "credits-without-limit"  // Does not count CREDIT.
    case twoLongMessages = "two-long-messages"  // Gives every link credit for its half of a long message.
    case turnWithoutEnd = "turn-without-end"  // Lets a slow peer keep the turn.
    // Holds what comes on channels without a limit.
    case channelsWithoutMemoryLimit = "channels-without-memory-limit"
    case keyUpdatesCostMuch = "key-updates-cost-much"  // Computes for long whenever the keys of TLS change.
    case confirmedUnbounded = "confirmed-unbounded"  // Holds any number of candidates of one peer.
    case relinksUnread = "relinks-unread"  // Links a peer again however much of it was not taken.
    // Tries to accept again and again when it has no descriptors.
    case spinsWithoutDescriptors = "spins-without-descriptors"

    // MARK: MUT
    // Crashes with connection data whose checksum does not fit.
    case crashesOnBadData = "crashes-on-bad-data"
    case crashesOnBadTls = "crashes-on-bad-tls"  // Crashes when a TLS handshake fails.
    case crashesOnBadList = "crashes-on-bad-list"  // Crashes with a malformed list of entries, or of members.
    case crashesOnUnknownKind = "crashes-on-unknown-kind"  // Crashes with a kind that it does not know.
    case stopsAccepting = "stops-accepting"  // Stops accepting for good when strangers come too fast.

    // MARK: DGR
    case datagramsNever = "datagrams-never"  // Never says DGRAM.
    case datagramsTooLong = "datagrams-too-long"  // Sends messages of more than 1,150 bytes by UDP.
    case datagramsWithoutPath = "datagrams-without-path"  // Loses what is sent while there is no path.
    case pathIsNeverDown = "path-is-never-down"  // Goes on by UDP though no ping is answered.
    case datagramsOfAnyKind = "datagrams-of-any-kind"  // Takes kind DTLS on a plain link.
    case answersStrangers = "answers-strangers"  // Answers datagrams of any association.
    case datagramsTwice = "datagrams-twice"  // Has no window of sequences.
    case failedDatagramsEndLink = "failed-datagrams-end-link"  // Ends the link when a DTLS handshake fails.
    case renegotiates = "renegotiates"  // Grants another DTLS handshake.
    case stopsReadingHandshakes = "stops-reading-handshakes"  // Reads no flight when its handshake is done.
    case keepsFirstAddress = "keeps-first-address"  // Follows no change of the address.
    case followsAnybody = "follows-anybody"  // Follows whatever comes.
    case datagramsWithoutLimit = "datagrams-without-limit"  // Holds datagrams without limit.

    // MARK: SAS
    case sasSwapsNonces = "sas-swaps-nonces"  // Takes the nonces in the wrong order.
    case sasIgnoresCommitment = "sas-ignores-commitment"  // Does not compare the commitment.
    case sasWithoutKey = "sas-without-key"  // Leaves the key of the connection out of the code.
    case sasUnasked = "sas-unasked"  // Answers before its application asked.
    case sasOnPlainLinks = "sas-on-plain-links"  // Takes SAS frames on plain links.
    case sasAnyOrder = "sas-any-order"  // Passes over SAS frames out of order.
    case sasRunsAgain = "sas-runs-again"  // Runs as often as it is asked.
}
