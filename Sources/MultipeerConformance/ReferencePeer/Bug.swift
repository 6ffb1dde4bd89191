/// The faults of the reference peer, one for each run. Each is one condition at the place where the rule is enforced.
package enum Bug: String, CaseIterable, Sendable {
    // MARK: DATA
    case dataUnsorted = "data-unsorted"  // Issues data whose entries are not in order.
    case dataLimit512 = "data-limit-512"  // Refuses data of more than 512 bytes.
    case dataRefusesUnknown = "data-refuses-unknown"  // Refuses entries that it does not know.
    case dataIgnoresCritical = "data-ignores-critical"  // Skips unknown entries with bit 15 set.
    case dataIgnoresOrder = "data-ignores-order"  // Accepts entries in any order.
    case dataCrashesShort = "data-crashes-short"  // Crashes with data that is too short.
    case dataIgnoresChecksum = "data-ignores-checksum"  // Does not check the checksum.
    case dataIgnoresVersion = "data-ignores-version"  // Does not check the version.
    case nameUnchecked = "name-unchecked"  // Accepts any bytes as a name.
    case dataAnyPreference = "data-any-preference"  // Treats an unknown preference as optional.
    // Accepts data without a fingerprint, and any algorithm.
    case dataFingerprintOptional = "data-fingerprint-optional"
    case connectsToItself = "connects-to-itself"  // Connects to a peer with its own uid.
    case dataIgnoresRecipient = "data-ignores-recipient"  // Uses data that is addressed to another peer.
    case dataNewEachTime = "data-new-each-time"  // Issues new data each time it is asked.
    case dataWithoutLifetime = "data-without-lifetime"  // Issues data without LIFETIME.
    case dataToAnybody = "data-to-anybody"  // Leaves RECIPIENT out of its data.
    case dataIgnoresDuplicates = "data-ignores-duplicates"  // Accepts repeated entries.
    case dataKeyedUnchecked = "data-keyed-unchecked"  // Accepts data with a keyed uid and no identity.
    case dataTokenUnchecked = "data-token-unchecked"  // Accepts tokens of any size.
    case dataNeverExpires = "data-never-expires"  // Accepts HELLO with data that has expired.
    case dialsForbidden = "dials-forbidden"  // Dials whatever address it is given.
    case dialsLowPort = "dials-low-port"  // Dials ports below 1024.
    case connectsUnissued = "connects-unissued"  // Connects to a peer that can hold none of its data.
    case dialsLoopback = "dials-loopback"  // Dials loopback addresses though it issued none.
    case linkLocalOnce = "link-local-once"  // Tries a link-local address on one interface.
    case linkLocalEverywhere = "link-local-everywhere"  // Tries it on any number of interfaces.
    case countsEachAddress = "counts-each-address"  // Counts each address of IPv6 apart.
    case dialsOneByOne = "dials-one-by-one"  // Waits for the end of each dial before the next.
    case dialsOnlyIPv4 = "dials-only-ipv4"  // Ignores candidates of IPv6.
    case dialsAllAtOnce = "dials-all-at-once"  // Dials all candidates at once.

    case tlvLengthUnchecked = "tlv-length-unchecked"  // Cuts an entry at the end of its list.
    case neverGreases = "never-greases"  // Issues data without GREASE.
    case refusesGrease = "refuses-grease"  // Refuses entries of GREASE types.
    case uidOfNoVersion = "uid-of-no-version"  // Makes uids that are not UUIDs of version 4.
    case dataAnyMagic = "data-any-magic"  // Accepts any first four bytes.
    case dataWithoutPeer = "data-without-peer"  // Accepts data without PEER.
    case dataAnyInstance = "data-any-instance"  // Accepts instances of any size.
    case dataAnyCandidates = "data-any-candidates"  // Accepts any number of candidates, of any form.
    case dataRefusesFlags = "data-refuses-flags"  // Refuses flags that it does not know.

    // MARK: ENC
    case encPrefersPlain = "enc-prefers-plain"  // Makes plain connections where it must use TLS.
    case encPrefersTls = "enc-prefers-tls"  // Makes TLS connections where it must use plain ones.
    // Links without TLS where the preferences exclude each other.
    case noneLinksRequired = "none-links-required"
    case identityStaysOptional = "identity-stays-optional"  // Stays optional with an identity.
    // Reads frames on a plain connection though it requires TLS.
    case acceptsPlainWhenRequired = "accepts-plain-when-required"
    case plainIgnoresFirstByte = "plain-ignores-first-byte"  // Uses TLS though its preference is none.
    case acceptsTls12 = "accepts-tls-1.2"  // Accepts TLS 1.2.
    case alpnUnchecked = "alpn-unchecked"  // Ignores ALPN.
    case skipsClientCertificate = "skips-client-certificate"  // Asks no client for its certificate.
    case ignoresFingerprint = "ignores-fingerprint"  // Accepts any certificate.
    case ignoresKeyedUid = "ignores-keyed-uid"  // Accepts a keyed uid from the holder of another key.
    case chainUnbounded = "chain-unbounded"  // Accepts chains of any length.
    case checksDates = "checks-dates"  // Checks the dates of a pinned certificate.
    case handsOutTickets = "hands-out-tickets"  // Hands out session tickets.
    case acceptsTickets = "accepts-tickets"  // Accepts session tickets.
    // Shows its certificate to clients that do not offer the name.
    case certificateBeforeAlpn = "certificate-before-alpn"
    case acceptsWeakKeys = "accepts-weak-keys"  // Accepts keys of any strength.
    case offersTwoProtocols = "offers-two-protocols"  // Offers another ALPN name, too.
    // Delivers what has come of a message when the connection is cut.
    case truncationDelivers = "truncation-delivers"
    case confirmsBeforeTrust = "confirms-before-trust"  // Links whatever its application answers.
    case trustWithoutDeadline = "trust-without-deadline"  // Waits for its application forever.
    case asksTwice = "asks-twice"  // Asks its application for each connection.

    case prefaceUnchecked = "preface-unchecked"  // Does not compare the preface.
    case anyGroup = "any-group"  // Accepts groups that the table does not list.
    case sendsServerName = "sends-server-name"  // Sends a server name in the ClientHello.
    case oneKeyForAll = "one-key-for-all"  // Has one key for all its sessions.

    // MARK: LINK
    case neverAnswersSelect = "never-answers-select"  // Does not answer SELECT.
    case lowerWaits = "lower-waits"  // Delays its dial when it has the lower uid.
    case higherNeverDials = "higher-never-dials"  // Never dials when it has the higher uid.
    case higherDialsAtOnce = "higher-dials-at-once"  // Dials at once when it has the higher uid.
    // Gives up when the peer does not expect it yet.
    case givesUpAfterUnknownPeer = "gives-up-after-unknown-peer"
    case retriesWithoutPause = "retries-without-pause"  // Dials again at once.
    case neverRetries = "never-retries"  // Dials once.
    case namesOneDatum = "names-one-datum"  // Always names the same of its data in HELLO.
    // Backs off before it has named each of its data.
    case backsOffBeforeNaming = "backs-off-before-naming"
    case attemptWithoutDeadline = "attempt-without-deadline"  // Connects to a peer forever.
    case helloIncompleteAccepted = "hello-incomplete-accepted"  // Accepts HELLO without any of its entries.
    case helloSizesUnchecked = "hello-sizes-unchecked"  // Accepts entries of HELLO of any size.
    case helloAnyVersion = "hello-any-version"  // Does not check the versions.
    case helloMembersUnbounded = "hello-members-unbounded"  // Accepts any number of members in HELLO.
    case initiatorTrustsHello = "initiator-trusts-hello"  // Does not check a HELLO that answers its own.
    case helloRefusesGreaseVersion = "hello-refuses-grease-version"  // Refuses lists of several versions.
    case helloIgnoresReceiver = "hello-ignores-receiver"  // Does not check RECEIVER.
    case helloIgnoresInstance = "hello-ignores-instance"  // Compares only the uids of endpoints.
    case helloIgnoresRefs = "hello-ignores-refs"  // Does not check the references.
    case helloKeyOfAnybody = "hello-key-of-anybody"  // Accepts the certificate of any peer that it expects.
    case macUnchecked = "mac-unchecked"  // Accepts any CONFIRM.
    case macPrefixChecked = "mac-prefix-checked"  // Compares half of the mac.
    case macWithoutBinding = "mac-without-binding"  // Leaves the binding out of the mac.
    case macWithoutRole = "mac-without-role"  // Accepts its own CONFIRM.
    case macRoleWrong = "mac-role-wrong"  // Computes its mac with the role of the other end.
    case helloTwice = "hello-twice"  // Accepts a second HELLO.
    case confirmAnyOrder = "confirm-any-order"  // Ignores a CONFIRM out of order.
    case limitBeforeUnchecked = "limit-before-unchecked"  // Accepts frames of 64 KiB before the link.
    case messageBeforeSelect = "message-before-select"  // Delivers messages before the link.
    case selectFromAnybody = "select-from-anybody"  // Accepts SELECT from the higher uid.
    case selectsAll = "selects-all"  // Selects each candidate.
    case twoLinksPerPair = "two-links-per-pair"  // Keeps other candidates after SELECTED.
    case replacesLivingLink = "replaces-living-link"  // Replaces a link that lives.
    // Closes a candidate with an unanswered SELECT when it gets newer data.
    case newerDataEndsSelected = "newer-data-ends-selected"
    case neverSelectsNext = "never-selects-next"  // Does not select another candidate when one dies.
    case keepsStaleLink = "keeps-stale-link"  // Keeps the old link when SELECT comes.
    case supersedesLivingLink = "supersedes-living-link"  // Ends a link that lives when SELECT comes.
    case neverProbes = "never-probes"  // Treats every old link as alive.
    case newInstancePushesOut = "new-instance-pushes-out"  // Another instance replaces a living link.
    case handshakeWithoutDeadline = "handshake-without-deadline"  // Waits for HELLO forever.
    case unauthenticatedUnbounded = "unauthenticated-unbounded"  // Keeps any number of unauthenticated peers.
    case cancelIgnored = "cancel-ignored"  // Links with a peer whose attempt its application cancelled.
    case helloInOneRead = "hello-in-one-read"  // Accepts HELLO only in one piece.
    case remembersInstance = "remembers-instance"  // Treats every old instance as alive.

    case selectWithoutDeadline = "select-without-deadline"  // Waits for SELECTED forever.
    case youngLinksLive = "young-links-live"  // Treats a young link as alive when another instance comes.
    // Accepts a HELLO that names other data of its own than its HELLO has named.
    case helloOtherVersion = "hello-other-version"
    case pingBeforeCandidate = "ping-before-candidate"  // Answers PING before CONFIRM.
    case helloModeUnchecked = "hello-mode-unchecked"  // Accepts HELLO on any kind of connection.
    // Does not link again when a link ends that its peer has not used.
    case unusedLinkEndsAttempt = "unused-link-ends-attempt"
    case attemptEndsSilently = "attempt-ends-silently"  // Does not report that an attempt is over.

    // MARK: FRM
    case skipsUnknownKinds = "skips-unknown-kinds"  // Skips every kind that it does not know.
    case refusesIgnorable = "refuses-ignorable"  // Refuses every kind that it does not know.
    case frameLimitUnchecked = "frame-limit-unchecked"  // Reads frames of any length.
    case channelUnchecked = "channel-unchecked"  // Does not check the channel.
    case oneFramePerRead = "one-frame-per-read"  // Handles only the first frame of each read.
    case deliversAfterClose = "delivers-after-close"  // Handles frames after CLOSE.
    case refusesStrayPong = "refuses-stray-pong"  // Refuses a PONG that it did not ask for.
    case answersClose = "answers-close"  // Answers CLOSE with CLOSE.
    case pongAfterMessages = "pong-after-messages"  // Answers PING after all messages.
    case payloadSizeUnchecked = "payload-size-unchecked"  // Accepts payloads of any size.
    case refusesUnknownCode = "refuses-unknown-code"  // Refuses codes that it does not know.
    case sendsReservedKind = "sends-reserved-kind"  // Sends a kind that is not assigned.
    case pongOtherBytes = "pong-other-bytes"  // Answers PING with other bytes.

    case closeReasonUnchecked = "close-reason-unchecked"  // Accepts any reason in CLOSE.
    case littleEndianLimits = "little-endian-limits"  // Writes LIMITS with the lowest byte first.
    case neverGreasesFrames = "never-greases-frames"  // Sends no frame of a GREASE kind.

    // MARK: MSG
    case longMessageStalls = "long-message-stalls"  // Returns no credit for a message in reassembly.
    case messageUnbounded = "message-unbounded"  // Accepts messages of any length.
    case reordersMessages = "reorders-messages"  // Delivers every hundredth message after the next.
    case cutsLastByte = "cuts-last-byte"  // Loses the last byte of a message.
    case dropsEmptyMessage = "drops-empty-message"  // Does not deliver empty messages.
    case losesAMessage = "loses-a-message"  // Loses every hundredth message.
    case partSizeUnchecked = "part-size-unchecked"  // Accepts parts of any size.
    case ignoresMaxMessage = "ignores-max-message"  // Sends messages of any length.
    case sendsBeyondCredit = "sends-beyond-credit"  // Sends without credit.
    case creditMayShrink = "credit-may-shrink"  // Accepts a limit that does not grow.
    case noCreditCheck = "no-credit-check"  // Does not count what it receives.
    case costOffBy64 = "cost-off-by-64"  // Counts only the payload of what it receives.
    // Checks what it receives against the default windows, whatever its HELLO granted.
    case countsTheUsualWindow = "counts-the-usual-window"
    case costWithoutOverhead = "cost-without-overhead"  // Counts only the payload of what it sends.
    case forgetsUnsent = "forgets-unsent"  // Does not report what was not sent.
    case creditAtHalf = "credit-at-half"  // Returns credit for messages only when half of it is used up.
    case creditLate = "credit-late"  // Returns credit every 3 s.
    // Returns credit for messages that the application has not taken.
    case returnsCreditOnArrival = "returns-credit-on-arrival"
    case sendsToSome = "sends-to-some"  // Sends only to the peers that are connected.

    // MARK: CHN
    case streamLosesTail = "stream-loses-tail"  // Loses the last byte of a stream.
    case finIsSilent = "fin-is-silent"  // Does not report that a stream is complete.
    case ignoresStop = "ignores-stop"  // Goes on sending after STOP.
    case resetIsAnEnd = "reset-is-an-end"  // Treats RESET as a regular end.
    case channelsWithoutLimit = "channels-without-limit"  // Accepts any number of channels.
    case reusesChannelNumbers = "reuses-channel-numbers"  // Accepts a number that was used before.
    case dataOnAnyChannel = "data-on-any-channel"  // Ignores DATA of channels that were never opened.
    case refusesLateData = "refuses-late-data"  // Refuses DATA after its STOP.
    case dataAfterFin = "data-after-fin"  // Accepts DATA after FIN.
    case noChannelCreditCheck = "no-channel-credit-check"  // Does not count what it receives on a channel.
    // Serves streams strictly in the order of their numbers.
    case stalledStreamStallsAll = "stalled-stream-stalls-all"
    case resetsWithoutLimit = "resets-without-limit"  // Accepts any number of resets.
    case emptyDataWithoutLimit = "empty-data-without-limit"  // Accepts any number of empty DATA.
    case streamsOutliveLink = "streams-outlive-link"  // Does not end streams when their link ends.
    case channelKindUnchecked = "channel-kind-unchecked"  // Accepts channels of a kind that it does not know.
    case channelNameUnchecked = "channel-name-unchecked"  // Accepts any bytes as the name of a channel.
    case opensAreFree = "opens-are-free"  // Does not count OPEN.
    case channelsAreControl = "channels-are-control"  // Counts OPEN and FIN as control frames.
    case strayFramesFree = "stray-frames-free"  // Does not count frames of closed channels.
    case channelCreditMayFall = "channel-credit-may-fall"  // Accepts a limit of a channel that does not grow.
    // Returns credit of a channel only when half of it is used up.
    case channelCreditAtHalf = "channel-credit-at-half"
    case messagesStarveStreams = "messages-starve-streams"  // Sends no DATA while messages wait.
    case messagesStarveFiles = "messages-starve-files"  // Sends no file while messages wait.
    case sendsBeyondChannelCredit = "sends-beyond-channel-credit"  // Sends on channels without credit.

    // MARK: RES
    case ignoresSize = "ignores-size"  // Does not check SIZE.
    case ignoresDigest = "ignores-digest"  // Does not check DIGEST.
    case keepsCancelledFiles = "keeps-cancelled-files"  // Leaves incomplete files on disk.
    case cancelsSilently = "cancels-silently"  // Does not report that it gave up.
    case doneNotAwaited = "done-not-awaited"  // Reports a resource as sent when FIN was sent.
    case lostLinkIsSuccess = "lost-link-is-success"  // Reports a resource as sent when the link ends.
    case pathOfName = "path-of-name"  // Stores a resource under its name.
    case cleansNames = "cleans-names"  // Changes the name of a resource.
    case filesForEveryone = "files-for-everyone"  // Stores files that every user can read.
    case resourcesNotAcknowledged = "resources-not-acknowledged"  // Sends no DONE.
    case fullDiskIsSilent = "full-disk-is-silent"  // Does not report that it cannot store more.
    // Says INTERNAL when it cannot open another file.
    case tooManyFilesIsInternal = "too-many-files-is-internal"
    case oneResourceAtATime = "one-resource-at-a-time"  // Grants credit only to the first resource.
    case resumableIgnored = "resumable-ignored"  // Sends no RESUME.
    case resumeDigestOfNothing = "resume-digest-of-nothing"  // Sends the SHA-256 of no bytes with RESUME.
    case beginsAnywhere = "begins-anywhere"  // Accepts BEGIN with any offset.
    case dataBeforeBegin = "data-before-begin"  // Accepts DATA before BEGIN.
    case sendsBeforeResume = "sends-before-resume"  // Sends DATA of a resumable resource at once.
    case beginsUnchecked = "begins-unchecked"  // Begins at the offset of RESUME without comparing the digest.
    case resumeUnchecked = "resume-unchecked"  // Accepts any RESUME.
    case digestOfRest = "digest-of-rest"  // Sends the digest of the bytes after BEGIN.
    case forgetsParts = "forgets-parts"  // Keeps nothing of a resumable resource when its link ends.
    case partsOfAUID = "parts-of-a-uid"  // Uses what it has of a resource for any key with the uid.
    // Sends no message while it sends a resource.
    case messagesAfterResources = "messages-after-resources"
    case shortFileIsSuccess = "short-file-is-success"  // Sends what is left of a file, and reports success.

    // MARK: MSH
    case neverIntroduces = "never-introduces"  // Sends no entries of its members.
    case admitsNinth = "admits-ninth"  // Does not count members.
    case believesOld = "believes-old"  // Treats an older entry as a newer one.
    case believesForgery = "believes-forgery"  // Believes entries about itself.
    case entriesUnchecked = "entries-unchecked"  // Ignores a malformed MEMBERS.
    case entrySignatureUnchecked = "entry-signature-unchecked"  // Does not verify the signatures of entries.
    // Does not compare the certificate of an entry with the fingerprint in its data.
    case entryCertificateUnchecked = "entry-certificate-unchecked"
    case secondKeyBelieved = "second-key-believed"  // Believes entries of a known endpoint with another key.
    case signsOnce = "signs-once"  // Keeps its first signature when its entry changes.
    case dialsOneSided = "dials-one-sided"  // Dials every peer that is listed.
    // Counts MEMBERS only as control frames.
    case membersAreControl = "members-are-control"
    case membersWithoutLimit = "members-without-limit"  // Accepts any number of MEMBERS.
    case tellsOverPlain = "tells-over-plain"  // Introduces over plain links though it prefers TLS.
    case introducesManual = "introduces-manual"  // Introduces peers whose data has no MESH.
    case countsInvented = "counts-invented"  // Counts members that only one other has ever reported.
    case dialsAtWill = "dials-at-will"  // Dials what members report as often as anything else.
    case neverLeaves = "never-leaves"  // Ignores how many members there are.
    case neverRanks = "never-ranks"  // Orders members only by uid.
    case neverDismisses = "never-dismisses"  // Keeps its link to the surplus member forever.
    // Believes entries about a member at once after it evicted it.
    case believesOfDismissed = "believes-of-dismissed"
    case believesDeparted = "believes-departed"  // Believes entries about a member that has said goodbye.
    // Takes entries of linked members from others.
    case takesHearsay = "takes-hearsay"
    // Forgets what others sent of a linked member.
    case forgetsSetAside = "forgets-set-aside"
    case meshDataShort = "mesh-data-short"  // Issues mesh data for ten minutes.
    // Dials the one it learnt of first, of two with one uid.
    case dialsFormerInstance = "dials-former-instance"
    case dialsOwnUid = "dials-own-uid"  // Dials a member that has its own uid.
    case neverWithdraws = "never-withdraws"  // Goes on dialling what is no longer a member.
    // Refuses a member that was dialling when its link ended.
    case forgetsCaller = "forgets-caller"
    case forgetsLost = "forgets-lost"  // Does not dial a member whose link was lost.
    case missesDeparted = "misses-departed"  // Dials a member that has left.
    case noPlaceForMembers = "no-place-for-members"  // Has no place for the entry of a mesh link.
    case keepsFirstMeshData = "keeps-first-mesh-data"  // Ignores newer mesh data of a member that it dials.
    case entriesWithoutLimit = "entries-without-limit"  // Holds any number of entries.
    case reportsEachAttempt = "reports-each-attempt"  // Reports each attempt to a member.
    case neverDialsMembers = "never-dials-members"  // Waits until members dial.
    case helloListsInvented = "hello-lists-invented"  // Lists members that do not count in HELLO.
    // Introduces members though its certificate does not fit an entry.
    case meshWithAnyCertificate = "mesh-with-any-certificate"
    case countsSleep = "counts-sleep"  // Counts time during which it did not run.

    // MARK: INV
    case inviteDataOnDecline = "invite-data-on-decline"  // Sends its data with a refusal.
    case inviteContextUnlimited = "invite-context-unlimited"  // Accepts a context of any length.
    case inviteAnswersLate = "invite-answers-late"  // Accepts an answer after the timeout.
    case inviteAsksEachTime = "invite-asks-each-time"  // Asks its application once for each connection.
    case inviteUnlimited = "invite-unlimited"  // Holds any number of questions.
    case inviteAnyRecipient = "invite-any-recipient"  // Accepts invitations to other peers.
    case inviteCompleteFirst = "invite-complete-first"  // Accepts COMPLETE before its ANSWER.
    case inviteDataOfAnyone = "invite-data-of-anyone"  // Accepts the data of another peer.
    case inviteOnSessionAlpn = "invite-on-session-alpn"  // Accepts invitations under any ALPN name.
    // Begins another link when an invitation between two linked peers is accepted.
    case inviteLinksLinkedAgain = "invite-links-linked-again"
    case invitesAnyKey = "invites-any-key"  // Does not check the key of an invitee.
    case inviteFromAnyKey = "invite-from-any-key"  // Does not check the key of an inviter.
    case inviteOtherKey = "invite-other-key"  // Always has a new key in invitations.
    case inviteShowsIdentity = "invite-shows-identity"  // Shows its identity in invitations.
    case inviteRefusesCrossing = "invite-refuses-crossing"  // Sends BUSY to a peer that it invites.
    case inviteIgnoresSlots = "invite-ignores-slots"  // Invites although it has no free place.
    case inviteOutlivesAdvertising = "invite-outlives-advertising"  // Keeps questions when advertising ends.

    case inviteTellsEarly = "invite-tells-early"  // Accepts before its application has.
    case inviteStaysWithdrawn = "invite-stays-withdrawn"  // Keeps a question whose inviter is gone.
    case inviteWithoutDeadline = "invite-without-deadline"  // Waits for INVITE forever.
    case inviteCompletesEarly = "invite-completes-early"  // Sends COMPLETE with INVITE.
    case inviteAnyAnswer = "invite-any-answer"  // Accepts an ANSWER to any invitation.
    case inviteGivesUpBusy = "invite-gives-up-busy"  // Gives up when it receives BUSY.
    case inviteReservesUID = "invite-reserves-uid"  // Asks about one question of a uid, from any address.
    case inviteNeverQuiet = "invite-never-quiet"  // Asks again, however often its application declined.
    case inviteNeverGivesUp = "invite-never-gives-up"  // Tries again, however often connections are lost.
    // Keeps the other connections when TLS stands on one.
    case inviteKeepsConnections = "invite-keeps-connections"
    case inviteOneAddress = "invite-one-address"  // Gives up when the peer at one address is another.
    case inviteWholeTimeout = "invite-whole-timeout"  // Repeats its TIMEOUT after BUSY.
    // Refuses invitations that do not name it.
    case inviteNeedsUid = "invite-needs-uid"
    // Takes any key of the peer at an address, whatever its uid.
    case inviteAddressUnproven = "invite-address-unproven"
    case inviteKeepsPlaces = "invite-keeps-places"  // Lets an old question keep its place from all others.

    // Discovery.
    case advertisesAnyType = "advertises-any-type"  // Advertises a type that is no service name.
    case infoUnchecked = "info-unchecked"  // Advertises any attributes.
    case labelWithoutUID = "label-without-uid"  // Advertises an instance without its uid.
    case textOutOfOrder = "text-out-of-order"  // Does not put the version first in TXT.
    case keepsHost = "keeps-host"  // Has the same host name at each start.
    case ttlOfAnHour = "ttl-of-an-hour"  // Announces every record for an hour.
    case probesFirst = "probes-first"  // Probes before it announces.
    case announcesOnce = "announces-once"  // Announces once.
    case announcesOften = "announces-often"  // Announces every second.
    case resumesSilently = "resumes-silently"  // Neither announces nor queries after a suspension.
    case goodbyeOnce = "goodbye-once"  // Says goodbye to discovery once.
    case answersAtOnce = "answers-at-once"  // Answers about shared records without a delay.
    case namesByCase = "names-by-case"  // Compares names with their case.
    case dnsAnySize = "dns-any-size"  // Reads messages of any size.
    case dnsAnyForm = "dns-any-form"  // Reads records of any size, and any opcode.
    case dnsLongNames = "dns-long-names"  // Reads names of any length.
    case dnsAnyPointer = "dns-any-pointer"  // Follows every compression pointer.
    case dnsAnyClass = "dns-any-class"  // Answers questions of any class.
    case dnsRefusesTrailing = "dns-refuses-trailing"  // Drops messages with bytes after them.
    case legacyAsUsual = "legacy-as-usual"  // Answers simple resolvers as other responders.
    case ignoresKnownAnswers = "ignores-known-answers"  // Repeats answers that the query lists.
    case listsNoAnswers = "lists-no-answers"  // Lists no known answers in its queries.
    case repeatsQuestions = "repeats-questions"  // Asks what another has just asked.
    case neverDenies = "never-denies"  // Sends no NSEC.
    case ignoresConflicts = "ignores-conflicts"  // Does not probe after a conflict.
    case neverRenames = "never-renames"  // Keeps a name that it has lost.
    case anyInstance = "any-instance"  // Reports instances whose label has no uid.
    case anyText = "any-text"  // Reports instances with any TXT.
    case neverLoses = "never-loses"  // Ignores goodbyes of instances.
    case restartUnnoticed = "restart-unnoticed"  // Does not report that a peer was started again.
    case findsItself = "finds-itself"  // Reports its own uid.
    case takesAnyPort = "takes-any-port"  // Takes responses from any port.
    case queriesOnce = "queries-once"  // Browses with a single query.
    case asksForUnicast = "asks-for-unicast"  // Asks for unicast answers.
    case neverRefreshes = "never-refreshes"  // Lets records expire without a query.
    case keepsOldRecords = "keeps-old-records"  // Ignores the cache-flush bit.
    case neverDoubts = "never-doubts"  // Keeps records for which no one answers.
    case doubtsAfterOne = "doubts-after-one"  // Gives records up after one query without an answer.
    case numberUnannounced = "number-unannounced"  // Announces no number of its code.
    case findsWithoutLimit = "finds-without-limit"  // Reports any number of instances.

    // Codes of invitations.
    case codeAnyWords = "code-any-words"  // Computes the password from the number alone.
    case codeNeverEnds = "code-never-ends"  // Keeps a one-time code that was used.
    case codeAnyConfirmation = "code-any-confirmation"  // Accepts any CONFIRMATION.
    case codeSecondGuess = "code-second-guess"  // Keeps a code after a wrong guess.
    case codeSilent = "code-silent"  // Does not notify its application of a wrong guess.
    case codeUnbound = "code-unbound"  // Leaves the connection out of the confirmations.
    case codeNotRequired = "code-not-required"  // Accepts INVITE without the code.
    case codeAnyOrder = "code-any-order"  // Ignores a frame of the exchange out of order.
    case codeAnyPoint = "code-any-point"  // Answers shares that are no points.
    case codeTellsInfinity = "code-tells-infinity"  // Refuses a share that is the mask of the right words.
    case codeEndedByAnything = "code-ended-by-anything"  // Ends a code with each connection that ends.
    case codeInvitesEarly = "code-invites-early"  // Sends INVITE with its CONFIRMATION.
    case codeRetriesMismatch = "code-retries-mismatch"  // Dials again after CLOSE(WRONG_CODE).
    case codeWrongIsLost = "code-wrong-is-lost"  // Reports a wrong code as a peer that is not there.
    case codeAnyForm = "code-any-form"  // Accepts codes with any number and any words.
    case codeNeverPauses = "code-never-pauses"  // Takes guesses at a repeated code one after the other.
    case codeGuessAgain = "code-guess-again"  // Dials again after a connection that ended with a guess.

    // MARK: LIV
    case neverPings = "never-pings"  // Sends no PING.
    case onlyListens = "only-listens"  // Sends no PING while it receives.
    case neverDies = "never-dies"  // Keeps dead links.
    case judgesAfterSuspension = "judges-after-suspension"  // Gives a peer no time after its own suspension.
    case queuesWithoutLimit = "queues-without-limit"  // Queues without limit what its application sends.
    case wantsPongs = "wants-pongs"  // Treats only PONG as a sign of life.
    case leavesWithoutGoodbye = "leaves-without-goodbye"  // Disconnects without CLOSE.
    case reportsNoReason = "reports-no-reason"  // Reports notConnected without a reason.
    case endsWithoutNotify = "ends-without-notify"  // Sends no close_notify when it has received CLOSE.
    case closesWithoutNotify = "closes-without-notify"  // Sends no close_notify after CLOSE.
    case tellsStatesTwice = "tells-states-twice"  // Reports notConnected twice.

    // MARK: LIM
    case pingsWithoutLimit = "pings-without-limit"  // Accepts any number of control frames.
    case creditsWithoutLimit = "credits-without-limit"  // Does not count CREDIT.
    case twoLongMessages = "two-long-messages"  // Gives every link credit for its half of a long message.
    case turnWithoutEnd = "turn-without-end"  // Lets a slow peer keep its turn.
    // Holds unread data of channels without limit.
    case channelsWithoutMemoryLimit = "channels-without-memory-limit"
    case keyUpdatesWithoutLimit = "key-updates-without-limit"  // Accepts any number of TLS key updates.
    case answersUnread = "answers-unread"  // Holds answers that a peer does not read, without limit.
    case expectsWithoutLimit = "expects-without-limit"  // Expects any number of peers.
    case closingUnbounded = "closing-unbounded"  // Holds any number of connections that it has closed.
    case issuesWithoutLimit = "issues-without-limit"  // Holds data issued for any number of peers.
    case confirmedUnbounded = "confirmed-unbounded"  // Holds any number of candidates of one peer.
    case relinksUnread = "relinks-unread"  // Links a peer again however much of its data was not taken.
    // Calls accept again and again when it has no descriptors.
    case spinsWithoutDescriptors = "spins-without-descriptors"

    // MARK: MUT
    // Crashes with connection data whose checksum is wrong.
    case crashesOnBadData = "crashes-on-bad-data"
    case crashesOnBadTls = "crashes-on-bad-tls"  // Crashes when a TLS handshake fails.
    case crashesOnBadList = "crashes-on-bad-list"  // Crashes with a malformed list of entries, or of members.
    case crashesOnUnknownKind = "crashes-on-unknown-kind"  // Crashes with a kind that it does not know.
    case stopsAccepting = "stops-accepting"  // Stops accepting for good after too many dials.

    // MARK: DGR
    case datagramsNever = "datagrams-never"  // Never sends DGRAM.
    case datagramsTooLong = "datagrams-too-long"  // Sends messages of more than 1,150 bytes by UDP.
    case datagramsWithoutPath = "datagrams-without-path"  // Loses what is sent while there is no path.
    case pathIsNeverDown = "path-is-never-down"  // Goes on with UDP though no ping is answered.
    case onlyPongsCount = "only-pongs-count"  // Gives up UDP without a pong, whatever else comes.
    case neverPingsAgain = "never-pings-again"  // Pings until the path is up, and never again.
    // Goes on with an attempt to which contents came, when no more come.
    case attemptOutlastsSilence = "attempt-outlasts-silence"
    case givesUpSilently = "gives-up-silently"  // Does not say that it takes no datagrams for a time.
    case datagramsOfAnyKind = "datagrams-of-any-kind"  // Accepts kind DTLS on a plain link.
    case answersUnknown = "answers-unknown"  // Answers datagrams of any association.
    case datagramsTwice = "datagrams-twice"  // Has no replay window.
    case failedDatagramsEndLink = "failed-datagrams-end-link"  // Ends the link when a DTLS handshake fails.
    case renegotiates = "renegotiates"  // Accepts another DTLS handshake.
    case stopsReadingHandshakes = "stops-reading-handshakes"  // Reads no flight after its handshake is done.
    case keepsFirstAddress = "keeps-first-address"  // Ignores a change of the peer's address.
    case followsAnybody = "follows-anybody"  // Follows the address of any packet.
    case ignoresNewDgram = "ignores-new-dgram"  // Ignores every DGRAM but the first.
    // Sends datagrams with the association under which it receives.
    case ownAssociation = "own-association"
    case datagramsOversized = "datagrams-oversized"  // Sends datagrams of more than 1,200 bytes.
    case dgramRoleSwapped = "dgram-role-swapped"  // Is the DTLS server when it controls.
    case dgramKeyUnbound = "dgram-key-unbound"  // Leaves the associations out of the key.
    case sequenceBeginsAgain = "sequence-begins-again"  // Counts from 0 with each pair of associations.
    case sequenceHalfAhead = "sequence-half-ahead"  // Takes a sequence half the circle away for a newer one.
    case neverRetransmits = "never-retransmits"  // Sends each flight once.
    case datagramsWithoutLimit = "datagrams-without-limit"  // Holds datagrams without limit.

    // MARK: SAS
    case sasSwapsNonces = "sas-swaps-nonces"  // Uses the nonces in the wrong order.
    case sasIgnoresCommitment = "sas-ignores-commitment"  // Does not compare the commitment.
    case sasWithoutKey = "sas-without-key"  // Leaves the key of the connection out of the code.
    case sasUnasked = "sas-unasked"  // Answers before its application has asked.
    case sasOnPlainLinks = "sas-on-plain-links"  // Accepts SAS frames on plain links.
    case sasAnyOrder = "sas-any-order"  // Ignores SAS frames out of order.
    case sasRunsAgain = "sas-runs-again"  // Runs as often as the peer asks.
    case sasConfirmedTwice = "sas-confirmed-twice"  // Accepts SAS_RESULT as often as it comes.
    case sasIgnoresDeclined = "sas-ignores-declined"  // Goes on waiting for a peer that has declined.
    case sasDifferentGoodbye = "sas-different-goodbye"  // Says goodbye when its user finds different digits.
    // Reports a goodbye when the other user found different digits.
    case sasNoIsGoodbye = "sas-no-is-goodbye"
    case sasConfirmsAlone = "sas-confirms-alone"  // Counts one user's confirmation as that of both.
    case sasConfirmsTwice = "sas-confirms-twice"  // Sends SAS_RESULT as often as its user confirms.
    case sasNeverRequests = "sas-never-requests"  // Sends no SAS_REQUEST.
    case sasSameNonce = "sas-same-nonce"  // Has the same nonce in each run.
    case sasWaitsForever = "sas-waits-forever"  // Never reports that no code has come.
    case sasEchoesResult = "sas-echoes-result"  // Confirms when the other user does.
    case sasDeclinesSilently = "sas-declines-silently"  // Lets a peer wait whose code its user declined.
    case sasDeclinesTwice = "sas-declines-twice"  // Declines as often as its user does.
    case sasDeclinesByClosing = "sas-declines-by-closing"  // Ends the link when its user declines.
}
