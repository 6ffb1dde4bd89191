/// The faults of the judge's own peer, one for each run. Each is one condition at the place where the rule is kept.
package enum Bug: String, CaseIterable, Sendable {
    // MARK: DATA
    /// Issues data whose entries are not in order.
    case dataUnsorted = "data-unsorted"
    /// Refuses data of more than 512 bytes.
    case dataLimit512 = "data-limit-512"
    /// Refuses entries that it does not know.
    case dataRefusesUnknown = "data-refuses-unknown"
    /// Passes over unknown entries with bit 15 set.
    case dataIgnoresCritical = "data-ignores-critical"
    /// Takes entries in any order.
    case dataIgnoresOrder = "data-ignores-order"
    /// Crashes with data that is too short.
    case dataCrashesShort = "data-crashes-short"
    /// Does not look at the checksum.
    case dataIgnoresChecksum = "data-ignores-checksum"
    /// Does not look at the version.
    case dataIgnoresVersion = "data-ignores-version"
    /// Takes any bytes for a name.
    case nameUnchecked = "name-unchecked"
    /// Takes an unknown preference for optional.
    case dataAnyPreference = "data-any-preference"
    /// Does without a fingerprint, and takes any algorithm.
    case dataFingerprintOptional = "data-fingerprint-optional"
    /// Seeks a peer with its own uid.
    case connectsToItself = "connects-to-itself"
    /// Uses data that is addressed to somebody else.
    case dataIgnoresRecipient = "data-ignores-recipient"
    /// Issues new data each time it is asked.
    case dataNewEachTime = "data-new-each-time"
    /// Issues data without LIFETIME.
    case dataWithoutLifetime = "data-without-lifetime"
    /// Leaves RECIPIENT out of its data.
    case dataToAnybody = "data-to-anybody"
    /// Takes entries twice.
    case dataIgnoresDuplicates = "data-ignores-duplicates"
    /// Takes tokens of any size.
    case dataTokenUnchecked = "data-token-unchecked"
    /// Takes HELLO with data that has expired.
    case dataNeverExpires = "data-never-expires"
    /// Dials whatever address it is given.
    case dialsForbidden = "dials-forbidden"
    /// Dials ports below 1024.
    case dialsLowPort = "dials-low-port"
    /// Dials all candidates at once.
    case dialsAllAtOnce = "dials-all-at-once"

    // MARK: ENC
    /// Makes plain connections where TLS is due.
    case encPrefersPlain = "enc-prefers-plain"
    /// Makes TLS connections where plain ones are due.
    case encPrefersTls = "enc-prefers-tls"
    /// Links without TLS where the preferences exclude each other.
    case noneLinksRequired = "none-links-required"
    /// An identity does not make optional required.
    case identityStaysOptional = "identity-stays-optional"
    /// Reads frames on a plain connection though it requires TLS.
    case acceptsPlainWhenRequired = "accepts-plain-when-required"
    /// Shakes hands though its preference is none.
    case plainIgnoresFirstByte = "plain-ignores-first-byte"
    /// Accepts TLS 1.2.
    case acceptsTls12 = "accepts-tls-1.2"
    /// Does not care for ALPN.
    case alpnUnchecked = "alpn-unchecked"
    /// Asks no client for its certificate.
    case skipsClientCertificate = "skips-client-certificate"
    /// Takes any certificate.
    case ignoresFingerprint = "ignores-fingerprint"
    /// Takes chains of any length.
    case chainUnbounded = "chain-unbounded"
    /// Looks at the dates of a pinned certificate.
    case checksDates = "checks-dates"
    /// Hands out session tickets.
    case handsOutTickets = "hands-out-tickets"
    /// Offers another ALPN name, too.
    case offersTwoProtocols = "offers-two-protocols"
    /// Delivers what has come of a message when the connection is cut.
    case truncationDelivers = "truncation-delivers"
    /// Links whatever its application says.
    case confirmsBeforeTrust = "confirms-before-trust"
    /// Waits for its application without end.
    case trustWithoutDeadline = "trust-without-deadline"
    /// Asks its application for each connection.
    case asksTwice = "asks-twice"

    // MARK: LINK
    /// Does not answer SELECT.
    case neverAnswersSelect = "never-answers-select"
    /// Waits with dialling when it has the lower uid.
    case lowerWaits = "lower-waits"
    /// Never dials when it has the higher uid.
    case higherNeverDials = "higher-never-dials"
    /// Dials at once when it has the higher uid.
    case higherDialsAtOnce = "higher-dials-at-once"
    /// Gives up when the peer does not await it yet.
    case givesUpAfterUnknownPeer = "gives-up-after-unknown-peer"
    /// Dials again at once.
    case retriesWithoutPause = "retries-without-pause"
    /// Dials once.
    case neverRetries = "never-retries"
    /// Seeks a peer for ever.
    case attemptWithoutDeadline = "attempt-without-deadline"
    /// Does without any entry of HELLO.
    case helloIncompleteAccepted = "hello-incomplete-accepted"
    /// Takes entries of HELLO of any size.
    case helloSizesUnchecked = "hello-sizes-unchecked"
    /// Does not look at the versions.
    case helloAnyVersion = "hello-any-version"
    /// Takes any number of members in HELLO.
    case helloMembersUnbounded = "hello-members-unbounded"
    /// Does not check a HELLO that answers its own.
    case initiatorTrustsHello = "initiator-trusts-hello"
    /// Refuses lists of several versions.
    case helloRefusesGreaseVersion = "hello-refuses-grease-version"
    /// Does not look at RECEIVER.
    case helloIgnoresReceiver = "hello-ignores-receiver"
    /// Looks only at the uids of endpoints.
    case helloIgnoresInstance = "hello-ignores-instance"
    /// Does not look at the references.
    case helloIgnoresRefs = "hello-ignores-refs"
    /// Takes the certificate of any peer that it awaits.
    case helloKeyOfAnybody = "hello-key-of-anybody"
    /// Takes any CONFIRM.
    case macUnchecked = "mac-unchecked"
    /// Compares half of the mac.
    case macPrefixChecked = "mac-prefix-checked"
    /// Leaves the binding out of the mac.
    case macWithoutBinding = "mac-without-binding"
    /// Takes its own CONFIRM.
    case macWithoutRole = "mac-without-role"
    /// Makes its mac with the role of the other end.
    case macRoleWrong = "mac-role-wrong"
    /// Takes a second HELLO.
    case helloTwice = "hello-twice"
    /// Passes over a CONFIRM out of order.
    case confirmAnyOrder = "confirm-any-order"
    /// Takes frames of 64 KiB before the link.
    case limitBeforeUnchecked = "limit-before-unchecked"
    /// Delivers messages before the link.
    case messageBeforeSelect = "message-before-select"
    /// Takes SELECT from the higher uid.
    case selectFromAnybody = "select-from-anybody"
    /// Selects each candidate.
    case selectsAll = "selects-all"
    /// Keeps other candidates behind SELECTED.
    case twoLinksPerPair = "two-links-per-pair"
    /// Replaces a link that lives.
    case replacesLivingLink = "replaces-living-link"
    /// Does not select another candidate when one dies.
    case neverSelectsNext = "never-selects-next"
    /// Keeps the old link when SELECT comes.
    case keepsStaleLink = "keeps-stale-link"
    /// Takes every old link for alive.
    case neverProbes = "never-probes"
    /// Another instance replaces a living link.
    case newInstancePushesOut = "new-instance-pushes-out"
    /// Waits for HELLO without end.
    case handshakeWithoutDeadline = "handshake-without-deadline"
    /// Keeps any number of strangers.
    case unauthenticatedUnbounded = "unauthenticated-unbounded"
    /// Links with a peer that its application called off.
    case cancelIgnored = "cancel-ignored"
    /// Takes HELLO only in one piece.
    case helloInOneRead = "hello-in-one-read"
    /// Takes every old instance for alive.
    case remembersInstance = "remembers-instance"

    // MARK: FRM
    /// Passes over every kind that it does not know.
    case skipsUnknownKinds = "skips-unknown-kinds"
    /// Refuses every kind that it does not know.
    case refusesIgnorable = "refuses-ignorable"
    /// Reads frames of any length.
    case frameLimitUnchecked = "frame-limit-unchecked"
    /// Does not look at the channel.
    case channelUnchecked = "channel-unchecked"
    /// Handles the first frame of what comes at once.
    case oneFramePerRead = "one-frame-per-read"
    /// Handles what comes behind CLOSE.
    case deliversAfterClose = "delivers-after-close"
    /// Refuses a PONG that it did not ask for.
    case refusesStrayPong = "refuses-stray-pong"
    /// Answers CLOSE with CLOSE.
    case answersClose = "answers-close"
    /// Answers PING behind all messages.
    case pongBehindMessages = "pong-behind-messages"
    /// Takes payloads of any size.
    case payloadSizeUnchecked = "payload-size-unchecked"
    /// Refuses codes that it does not know.
    case refusesUnknownCode = "refuses-unknown-code"
    /// Sends a kind that is not assigned.
    case sendsReservedKind = "sends-reserved-kind"
    /// Answers PING with other bytes.
    case pongOtherBytes = "pong-other-bytes"

    // MARK: MSG
    /// Returns no credit for a message in reassembly.
    case longMessageStalls = "long-message-stalls"
    /// Takes messages of any length.
    case messageUnbounded = "message-unbounded"
    /// Delivers every hundredth message behind the next.
    case reordersMessages = "reorders-messages"
    /// Loses the last byte of a message.
    case cutsLastByte = "cuts-last-byte"
    /// Does not deliver empty messages.
    case dropsEmptyMessage = "drops-empty-message"
    /// Loses every hundredth message.
    case losesAMessage = "loses-a-message"
    /// Takes parts of any size.
    case partSizeUnchecked = "part-size-unchecked"
    /// Sends messages of any length.
    case ignoresMaxMessage = "ignores-max-message"
    /// Sends without credit.
    case sendsBeyondCredit = "sends-beyond-credit"
    /// Takes a limit that does not grow.
    case creditMayShrink = "credit-may-shrink"
    /// Does not count what it receives.
    case noCreditCheck = "no-credit-check"
    /// Counts the payload of what comes alone.
    case costOffBy64 = "cost-off-by-64"
    /// Counts what comes against the usual windows, whatever its HELLO granted.
    case countsTheUsualWindow = "counts-the-usual-window"
    /// Counts the payload of what it sends alone.
    case costWithoutOverhead = "cost-without-overhead"
    /// Does not report what was not handed over.
    case forgetsUnsent = "forgets-unsent"
    /// Returns credit every 3 s.
    case creditLate = "credit-late"
    /// Returns credit for messages that nobody took.
    case returnsCreditOnArrival = "returns-credit-on-arrival"
    /// Sends to those who are connected.
    case sendsToSome = "sends-to-some"

    // MARK: CHN
    /// Loses the last byte of a stream.
    case streamLosesTail = "stream-loses-tail"
    /// Does not tell that a stream is complete.
    case finIsSilent = "fin-is-silent"
    /// Goes on sending behind STOP.
    case ignoresStop = "ignores-stop"
    /// Takes RESET for a proper end.
    case resetIsAnEnd = "reset-is-an-end"
    /// Takes any number of channels.
    case channelsWithoutLimit = "channels-without-limit"
    /// Takes a number that came before.
    case reusesChannelNumbers = "reuses-channel-numbers"
    /// Passes over DATA of channels that were never opened.
    case dataOnAnyChannel = "data-on-any-channel"
    /// Refuses DATA behind its STOP.
    case refusesLateData = "refuses-late-data"
    /// Takes DATA behind FIN.
    case dataBehindFin = "data-behind-fin"
    /// Does not count what comes on a channel.
    case noChannelCreditCheck = "no-channel-credit-check"
    /// Serves streams strictly in the order of their numbers.
    case stalledStreamStallsAll = "stalled-stream-stalls-all"
    /// Takes any number of resets.
    case resetsWithoutLimit = "resets-without-limit"
    /// Takes any number of empty DATA.
    case emptyDataWithoutLimit = "empty-data-without-limit"
    /// Does not tell streams that their link has ended.
    case streamsOutliveLink = "streams-outlive-link"
    /// Takes channels of a kind that it does not know.
    case channelKindUnchecked = "channel-kind-unchecked"
    /// Takes any bytes for the name of a channel.
    case channelNameUnchecked = "channel-name-unchecked"
    /// Takes a limit of a channel that does not grow.
    case channelCreditMayFall = "channel-credit-may-fall"
    /// Sends on channels without credit.
    case sendsBeyondChannelCredit = "sends-beyond-channel-credit"

    // MARK: RES
    /// Does not look at SIZE.
    case ignoresSize = "ignores-size"
    /// Does not look at DIGEST.
    case ignoresDigest = "ignores-digest"
    /// Leaves half a file behind.
    case keepsCancelledFiles = "keeps-cancelled-files"
    /// Does not say that it gave up.
    case cancelsSilently = "cancels-silently"
    /// Reports a resource as sent when FIN is.
    case doneNotAwaited = "done-not-awaited"
    /// Reports a resource as sent when the link ends.
    case lostLinkIsSuccess = "lost-link-is-success"
    /// Stores a resource under its name.
    case pathOfName = "path-of-name"
    /// Changes the name of a resource.
    case cleansNames = "cleans-names"
    /// Stores files that everybody can read.
    case filesForEveryone = "files-for-everyone"
    /// Sends no DONE.
    case resourcesNotAcknowledged = "resources-not-acknowledged"
    /// Does not say that it cannot store more.
    case fullDiskIsSilent = "full-disk-is-silent"
    /// Grants credit to the first resource alone.
    case oneResourceAtATime = "one-resource-at-a-time"
    /// Sends no message while a resource is under way.
    case messagesBehindResources = "messages-behind-resources"
    /// Sends what there is of a file, and is content.
    case shortFileIsSuccess = "short-file-is-success"

    // MARK: MSH
    /// Tells nobody of its members.
    case neverIntroduces = "never-introduces"
    /// Does not count members.
    case admitsNinth = "admits-ninth"
    /// Takes an older entry for a newer one.
    case believesOld = "believes-old"
    /// Believes what others say of itself.
    case believesForgery = "believes-forgery"
    /// Passes over a malformed MEMBERS.
    case entriesUnchecked = "entries-unchecked"
    /// Dials whoever is listed.
    case dialsOneSided = "dials-one-sided"
    /// Takes any number of MEMBERS.
    case membersWithoutLimit = "members-without-limit"
    /// Introduces over plain links though it prefers TLS.
    case tellsOverPlain = "tells-over-plain"
    /// Introduces peers whose data has no MESH.
    case introducesManual = "introduces-manual"
    /// Does not care how many members there are.
    case neverLeaves = "never-leaves"
    /// Knows no other order of members than that of uids.
    case neverRanks = "never-ranks"
    /// Keeps its link to the one too many for ever.
    case neverDismisses = "never-dismisses"
    /// Believes at once what is said of one that it sent away.
    case believesOfDismissed = "believes-of-dismissed"
    /// Counts time in which it did not run.
    case countsSleep = "counts-sleep"

    // MARK: INV
    /// Sends its data with a refusal.
    case inviteDataOnDecline = "invite-data-on-decline"
    /// Takes a context of any length.
    case inviteContextUnlimited = "invite-context-unlimited"
    /// Takes an answer when the time is over.
    case inviteAnswersLate = "invite-answers-late"
    /// Asks once for each connection.
    case inviteAsksEachTime = "invite-asks-each-time"
    /// Holds any number of questions.
    case inviteUnlimited = "invite-unlimited"
    /// Takes invitations to others.
    case inviteAnyRecipient = "invite-any-recipient"
    /// Takes COMPLETE before its ANSWER.
    case inviteCompleteFirst = "invite-complete-first"
    /// Takes the data of somebody else.
    case inviteDataOfAnyone = "invite-data-of-anyone"
    /// Takes invitations under any ALPN name.
    case inviteOnSessionAlpn = "invite-on-session-alpn"
    /// Begins another link when an invitation comes to a yes between two that are linked.
    case inviteLinksLinkedAgain = "invite-links-linked-again"
    /// Says BUSY to whom it is inviting itself.
    case inviteRefusesCrossing = "invite-refuses-crossing"
    /// Invites itself where no seat is left.
    case inviteIgnoresSeats = "invite-ignores-seats"
    /// Keeps questions when advertising ends.
    case inviteOutlivesAdvertising = "invite-outlives-advertising"

    /// Says yes before its application did.
    case inviteTellsEarly = "invite-tells-early"
    /// Keeps a question whose inviter has gone.
    case inviteStaysWithdrawn = "invite-stays-withdrawn"
    /// Waits for INVITE without end.
    case inviteWithoutDeadline = "invite-without-deadline"
    /// Sends COMPLETE with INVITE.
    case inviteCompletesEarly = "invite-completes-early"
    /// Takes an ANSWER to any invitation.
    case inviteAnyAnswer = "invite-any-answer"
    /// Gives up when it hears BUSY.
    case inviteGivesUpBusy = "invite-gives-up-busy"

    // MARK: LIV
    /// Sends no PING.
    case neverPings = "never-pings"
    /// Keeps dead links.
    case neverDies = "never-dies"
    /// Gives a peer no time after its own suspension.
    case judgesAfterSuspension = "judges-after-suspension"
    /// Queues whatever its application sends.
    case queuesWithoutLimit = "queues-without-limit"
    /// Takes nothing but PONG for a sign of life.
    case wantsPongs = "wants-pongs"
    /// Disconnects without CLOSE.
    case leavesWithoutGoodbye = "leaves-without-goodbye"
    /// Tells notConnected twice.
    case tellsStatesTwice = "tells-states-twice"

    // MARK: LIM
    /// Takes any number of control frames.
    case pingsWithoutLimit = "pings-without-limit"
    /// Does not count CREDIT.
    case creditsWithoutLimit = "credits-without-limit"
    /// Gives every link credit for its half of a long message.
    case twoLongMessages = "two-long-messages"
    /// Lets a slow peer keep the turn.
    case turnWithoutEnd = "turn-without-end"
    /// Holds what comes on channels without a limit.
    case channelsWithoutMemoryLimit = "channels-without-memory-limit"
    /// Computes for long whenever the keys of TLS change.
    case keyUpdatesCostMuch = "key-updates-cost-much"
    /// Tries to accept again and again when it has no descriptors.
    case spinsWithoutDescriptors = "spins-without-descriptors"

    // MARK: MUT
    /// Crashes with connection data whose checksum does not fit.
    case crashesOnBadData = "crashes-on-bad-data"
    /// Crashes when a TLS handshake fails.
    case crashesOnBadTls = "crashes-on-bad-tls"
    /// Crashes with a malformed list of entries, or of members.
    case crashesOnBadList = "crashes-on-bad-list"
    /// Crashes with a kind that it does not know.
    case crashesOnUnknownKind = "crashes-on-unknown-kind"
    /// Stops accepting for good when strangers come too fast.
    case stopsAccepting = "stops-accepting"

    // MARK: DGR
    /// Never says DGRAM.
    case datagramsNever = "datagrams-never"
    /// Sends messages of more than 1,150 bytes by UDP.
    case datagramsTooLong = "datagrams-too-long"
    /// Loses what is sent while there is no path.
    case datagramsWithoutPath = "datagrams-without-path"
    /// Goes on by UDP though no ping is answered.
    case pathIsNeverDown = "path-is-never-down"
    /// Takes kind DTLS on a plain link.
    case datagramsOfAnyKind = "datagrams-of-any-kind"
    /// Answers datagrams of any association.
    case answersStrangers = "answers-strangers"
    /// Has no window of sequences.
    case datagramsTwice = "datagrams-twice"
    /// Ends the link when a DTLS handshake fails.
    case failedDatagramsEndLink = "failed-datagrams-end-link"
    /// Grants another DTLS handshake.
    case renegotiates = "renegotiates"
    /// Reads no flight when its handshake is done.
    case stopsReadingHandshakes = "stops-reading-handshakes"
    /// Follows no change of the address.
    case keepsFirstAddress = "keeps-first-address"
    /// Follows whatever comes.
    case followsAnybody = "follows-anybody"
    /// Holds datagrams without limit.
    case datagramsWithoutLimit = "datagrams-without-limit"

    // MARK: SAS
    /// Takes the nonces in the wrong order.
    case sasSwapsNonces = "sas-swaps-nonces"
    /// Does not compare the commitment.
    case sasIgnoresCommitment = "sas-ignores-commitment"
    /// Leaves the key of the connection out of the code.
    case sasWithoutKey = "sas-without-key"
    /// Answers before its application asked.
    case sasUnasked = "sas-unasked"
    /// Takes SAS frames on plain links.
    case sasOnPlainLinks = "sas-on-plain-links"
    /// Passes over SAS frames out of order.
    case sasAnyOrder = "sas-any-order"
    /// Runs as often as it is asked.
    case sasRunsAgain = "sas-runs-again"
}
