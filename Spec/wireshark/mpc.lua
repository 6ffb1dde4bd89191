-- MPC/1 for Wireshark and tshark: frames of links and invitations, inside TLS or plain, and datagrams.
-- README.md in this folder explains how to install it. Names are those of the specification; numbers come from its
-- registries.json: generate.py writes them between the two marks below.

-- tables: generate.py writes from here
local MAGIC = {
    connectionData = "MPCD",
    plainPreface = "MPCPLAIN",
}
local ALPN = {
    link = "mpc/1",
    invitation = "mpc-invite/1",
}
local FRAMES = {
    [1] = { name = "HELLO", channel = "zero", phase = "before-select", min = 0, max = 2048 },
    [2] = { name = "CONFIRM", channel = "zero", phase = "before-select", min = 32, max = 32 },
    [3] = { name = "SELECT", channel = "zero", phase = "before-select", min = 0, max = 0 },
    [4] = { name = "SELECTED", channel = "zero", phase = "before-select", min = 0, max = 0 },
    [5] = { name = "CLOSE", channel = "zero", phase = "any", min = 2, max = 258 },
    [6] = { name = "PING", channel = "zero", phase = "any", min = 8, max = 8 },
    [7] = { name = "PONG", channel = "zero", phase = "any", min = 8, max = 8 },
    [8] = { name = "MEMBERS", channel = "zero", phase = "open", min = 33, max = 65536 },
    [9] = { name = "DGRAM", channel = "zero", phase = "open", min = 11, max = 11 },
    [16] = { name = "MSG", channel = "zero", phase = "open", min = 0, max = 65536 },
    [17] = { name = "MSG_PART", channel = "zero", phase = "open", min = 0, max = 65536 },
    [32] = { name = "OPEN", channel = "nonzero", phase = "open", min = 0, max = 65536 },
    [33] = { name = "DATA", channel = "nonzero", phase = "open", min = 0, max = 65536 },
    [34] = { name = "FIN", channel = "nonzero", phase = "open", min = 0, max = 65536 },
    [35] = { name = "RESET", channel = "nonzero", phase = "open", min = 2, max = 2 },
    [36] = { name = "STOP", channel = "nonzero", phase = "open", min = 2, max = 2 },
    [37] = { name = "CREDIT", channel = "any", phase = "open", min = 8, max = 8 },
    [38] = { name = "DONE", channel = "nonzero", phase = "open", min = 2, max = 2 },
    [39] = { name = "RESUME", channel = "nonzero", phase = "open", min = 40, max = 40 },
    [40] = { name = "BEGIN", channel = "nonzero", phase = "open", min = 8, max = 8 },
    [48] = { name = "SAS_REQUEST", channel = "zero", phase = "open", min = 0, max = 0 },
    [49] = { name = "SAS_COMMIT", channel = "zero", phase = "open", min = 32, max = 32 },
    [50] = { name = "SAS_NONCE", channel = "zero", phase = "open", min = 32, max = 32 },
    [51] = { name = "SAS_REVEAL", channel = "zero", phase = "open", min = 32, max = 32 },
    [52] = { name = "SAS_RESULT", channel = "zero", phase = "open", min = 2, max = 2 },
    [64] = { name = "INVITE", channel = "zero", phase = "invitation", min = 0, max = 65536 },
    [65] = { name = "ANSWER", channel = "zero", phase = "invitation", min = 0, max = 65536 },
    [66] = { name = "COMPLETE", channel = "zero", phase = "invitation", min = 0, max = 65536 },
    [67] = { name = "SHARE", channel = "zero", phase = "invitation", min = 67, max = 67 },
    [68] = { name = "CONFIRMATION", channel = "zero", phase = "invitation", min = 32, max = 32 },
}
local CODES = {
    [0] = "OK",
    [1] = "GOODBYE",
    [2] = "PROTOCOL",
    [3] = "TIMEOUT",
    [4] = "FULL",
    [5] = "POLICY",
    [6] = "UNKNOWN_PEER",
    [7] = "DUPLICATE",
    [8] = "BUSY",
    [9] = "SELF",
    [10] = "BAD_MAC",
    [11] = "REJECTED",
    [12] = "TOO_LARGE",
    [13] = "FLOW",
    [14] = "FLOOD",
    [15] = "VERSION",
    [16] = "CANCELLED",
    [17] = "INTERNAL",
    [18] = "DIGEST",
    [19] = "NO_SPACE",
    [20] = "DECLINED",
    [21] = "WRONG_CODE",
    [22] = "CODE_REQUIRED",
    [23] = "TOO_MANY_FILES",
}
local PREFERENCES = {
    [0] = "optional",
    [1] = "required",
    [2] = "none",
}
local CHANNEL_KINDS = {
    [1] = "STREAM",
    [2] = "RESOURCE",
}
local DATAGRAM_KINDS = {
    [1] = "DTLS",
    [2] = "plain",
}
local DATAGRAM_CONTENTS = {
    [1] = { name = "message", min = 0, max = 1150 },
    [2] = { name = "ping", min = 8, max = 8 },
    [3] = { name = "pong", min = 8, max = 8 },
}
local GREASE = {
    tlv = { [0xA0A] = true, [0x1A1A] = true, [0x2A2A] = true, [0x3A3A] = true, [0x4A4A] = true, [0x5A5A] = true, [0x6A6A] = true, [0x7A7A] = true },
    frames = { [0x8A] = true, [0x9A] = true, [0xAA] = true, [0xBA] = true, [0xCA] = true, [0xDA] = true, [0xEA] = true, [0xFA] = true },
}
local LIMITS = {
    frameBeforeSelect = 2048,
    frame = 65536,
    connectionData = 1024,
    candidates = 16,
    datagram = 1200,
    entryCertificate = 4096,
    entrySignature = 1024,
}
local ENTRIES = {
    connectionData = {
        [1] = { name = "PEER", min = 17, max = 79, mandatory = true },
        [2] = { name = "INSTANCE", min = 8, max = 8, mandatory = true },
        [3] = { name = "PREFERENCE", min = 1, max = 1, mandatory = true },
        [4] = { name = "FINGERPRINT", min = 33, max = 33 },
        [5] = { name = "TOKEN", min = 32, max = 32, mandatory = true },
        [6] = { name = "LIFETIME", min = 4, max = 4, mandatory = true },
        [8] = { name = "RECIPIENT", min = 16, max = 16 },
        [16] = { name = "CANDIDATE", min = 7, max = 19, mandatory = true, repeatable = true },
    },
    hello = {
        [1] = { name = "VERSIONS", min = 2, max = 2040, mandatory = true },
        [2] = { name = "SENDER", min = 24, max = 24, mandatory = true },
        [3] = { name = "RECEIVER", min = 24, max = 24, mandatory = true },
        [4] = { name = "MY_DATA_REF", min = 32, max = 32, mandatory = true },
        [5] = { name = "YOUR_DATA_REF", min = 32, max = 32, mandatory = true },
        [6] = { name = "NONCE", min = 32, max = 32, mandatory = true },
        [7] = { name = "LIMITS", min = 20, max = 20, mandatory = true },
        [8] = { name = "MEMBERS", min = 1, max = 769, mandatory = true },
        [9] = { name = "AGENT", min = 0, max = 64 },
    },
    open = {
        [1] = { name = "KIND", min = 1, max = 1, mandatory = true },
        [2] = { name = "NAME", min = 1, max = 1024, mandatory = true },
        [3] = { name = "SIZE", min = 8, max = 8 },
        [4] = { name = "METADATA", min = 0, max = 1024 },
        [5] = { name = "RESUMABLE", min = 0, max = 0 },
        [6] = { name = "NO_DIGEST", min = 0, max = 0 },
    },
    fin = {
        [1] = { name = "DIGEST", min = 32, max = 32 },
    },
    invite = {
        [1] = { name = "ID", min = 16, max = 16, mandatory = true },
        [2] = { name = "INVITER", min = 17, max = 79, mandatory = true },
        [3] = { name = "RECIPIENT", min = 16, max = 16, mandatory = true },
        [4] = { name = "TIMEOUT", min = 4, max = 4, mandatory = true },
        [5] = { name = "CONTEXT", min = 0, max = 32768 },
    },
    answer = {
        [1] = { name = "ID", min = 16, max = 16, mandatory = true },
        [2] = { name = "CODE", min = 2, max = 2, mandatory = true },
        [3] = { name = "DATA", min = 24, max = 1024 },
    },
    complete = {
        [1] = { name = "ID", min = 16, max = 16, mandatory = true },
        [3] = { name = "DATA", min = 24, max = 1024, mandatory = true },
    },
}
-- tables: to here

local link = Proto("mpc", "MPC/1")
local invitation = Proto("mpcinvite", "MPC/1 invitation")
local datagram = Proto("mpcdatagram", "MPC/1 datagram")
local content = Proto("mpccontent", "MPC/1 datagram content")

-- Names of numbers -------------------------------------------------------------------------------------------------

local function names(rows)
    local found = {}
    for value, row in pairs(rows) do found[value] = type(row) == "table" and row.name or row end
    return found
end

local function frame_name(kind)
    local row = FRAMES[kind]
    if row then return row.name end
    return string.format("%s %02X", kind < 0x80 and "reserved" or GREASE.frames[kind] and "GREASE" or "unknown", kind)
end

local frame_names = {}
for kind = 0, 255 do frame_names[kind] = frame_name(kind) end

-- Fields -----------------------------------------------------------------------------------------------------------

local f = {}
local fields = { [link] = {}, [datagram] = {}, [content] = {} }

-- Declares a field whose name in filters is "mpc." and the short name.
local function declare(make, short, name, ...)
    local field = make("mpc." .. short, name, ...)
    f[short] = field
    return field
end

local P = ProtoField
for _, field in ipairs {
    declare(P.string, "preface", "preface"),
    declare(P.uint24, "length", "length", base.DEC),
    declare(P.uint8, "kind", "kind", base.HEX, frame_names),
    declare(P.uint32, "channel", "channel", base.DEC),
    declare(P.bytes, "payload", "payload"),
    declare(P.uint16, "entry.type", "type", base.DEC_HEX),
    declare(P.uint16, "entry.length", "length", base.DEC),
    declare(P.bytes, "entry.value", "value"),
    declare(P.uint16, "code", "code", base.DEC, names(CODES)),
    declare(P.string, "reason", "reason", base.UNICODE),
    declare(P.bytes, "opaque", "opaque"),
    declare(P.bytes, "mac", "mac"),
    declare(P.bytes, "uid", "uid"),
    declare(P.uint64, "instance", "instance", base.HEX),
    declare(P.string, "name", "name", base.UNICODE),
    declare(P.uint32, "sequence", "sequence", base.DEC),
    declare(P.uint8, "count", "count", base.DEC),
    declare(P.uint16, "length", "length", base.DEC),
    declare(P.bytes, "certificate", "certificate"),
    declare(P.bytes, "signature", "signature"),
    declare(P.bytes, "association", "association"),
    declare(P.uint16, "port", "port", base.DEC),
    declare(P.uint8, "flags", "flags", base.HEX),
    declare(P.uint64, "limit", "limit", base.DEC),
    declare(P.uint64, "offset", "offset", base.DEC),
    declare(P.bytes, "first_bytes", "SHA-256 of the bytes before it"),
    declare(P.bytes, "commitment", "commitment"),
    declare(P.bytes, "nonce", "nonce"),
    declare(P.uint16, "code_number", "number of the code", base.DEC),
    declare(P.bytes, "point", "point"),
    declare(P.bytes, "message", "message"),
    declare(P.bytes, "bytes", "bytes"),
    declare(P.uint16, "version", "version", base.DEC_HEX),
    declare(P.bytes, "reference", "reference"),
    declare(P.uint64, "max_message", "max_message", base.DEC),
    declare(P.uint32, "max_channels", "max_channels", base.DEC),
    declare(P.uint32, "channel_credit", "channel_credit", base.DEC),
    declare(P.uint32, "message_credit", "message_credit", base.DEC),
    declare(P.string, "agent", "AGENT", base.UNICODE),
    declare(P.uint8, "channel_kind", "KIND", base.DEC, names(CHANNEL_KINDS)),
    declare(P.uint64, "size", "SIZE", base.DEC),
    declare(P.bytes, "metadata", "METADATA"),
    declare(P.bytes, "no_digest", "NO_DIGEST"),
    declare(P.bytes, "digest", "DIGEST"),
    declare(P.bytes, "id", "ID"),
    declare(P.uint32, "timeout", "TIMEOUT", base.DEC),
    declare(P.bytes, "context", "CONTEXT"),
    declare(P.string, "magic", "magic"),
    declare(P.uint8, "data_version", "version", base.DEC),
    declare(P.bool, "flag.mesh", "MESH", 8, nil, 1),
    declare(P.bool, "flag.identity", "IDENTITY", 8, nil, 2),
    declare(P.bool, "flag.datagrams", "DATAGRAMS", 8, nil, 4),
    declare(P.uint16, "data_length", "length", base.DEC),
    declare(P.uint8, "preference", "PREFERENCE", base.DEC, names(PREFERENCES)),
    declare(P.uint8, "algorithm", "algorithm", base.DEC, { [1] = "SHA-256" }),
    declare(P.bytes, "fingerprint", "FINGERPRINT"),
    declare(P.bytes, "token", "TOKEN"),
    declare(P.uint32, "lifetime", "LIFETIME", base.DEC),
    declare(P.uint8, "family", "family", base.DEC),
    declare(P.ipv4, "address4", "address"),
    declare(P.ipv6, "address6", "address"),
    declare(P.bytes, "checksum", "checksum"),
} do table.insert(fields[link], field) end
for _, field in ipairs {
    declare(P.uint8, "datagram.kind", "kind", base.DEC, names(DATAGRAM_KINDS)),
    declare(P.bytes, "datagram.association", "association"),
} do table.insert(fields[datagram], field) end
for _, field in ipairs {
    declare(P.uint8, "content.kind", "kind", base.DEC, names(DATAGRAM_CONTENTS)),
    declare(P.uint32, "content.sequence", "sequence", base.DEC),
    declare(P.bytes, "content.body", "body"),
} do table.insert(fields[content], field) end
for proto, declared in pairs(fields) do proto.fields = declared end

local malformed = ProtoExpert.new(
    "mpc.malformed", "malformed", expert.group.MALFORMED, expert.severity.ERROR)
local ignored = ProtoExpert.new(
    "mpc.ignored", "ignored by receivers", expert.group.UNDECODED, expert.severity.CHAT)
link.experts = { malformed, ignored }

local function refuse(item, text) item:add_proto_expert_info(malformed, text) end

-- Text: UTF-8 as in RFC 3629 ---------------------------------------------------------------------------------------

-- Returns whether it is UTF-8, and whether all of its characters are allowed in a name (3.1).
local function judge_text(range)
    local bytes = range:bytes()
    local place, size, is_name = 0, bytes:len(), true
    while place < size do
        local first = bytes:get_index(place)
        local more, low, high, scalar = 0, 0x80, 0xBF, first
        if first >= 0x80 then
            if first < 0xC2 or first > 0xF4 then return false end
            more = first >= 0xF0 and 3 or first >= 0xE0 and 2 or 1
            scalar = first - (more == 3 and 0xF0 or more == 2 and 0xE0 or 0xC0)
            if first == 0xE0 then low = 0xA0 elseif first == 0xED then high = 0x9F end
            if first == 0xF0 then low = 0x90 elseif first == 0xF4 then high = 0x8F end
        end
        for step = 1, more do
            local next = place + step < size and bytes:get_index(place + step)
            if not next or next < low or next > high then return false end
            scalar = scalar * 64 + next - 0x80
            low, high = 0x80, 0xBF
        end
        if scalar < 0x20 or scalar >= 0x7F and scalar <= 0x9F or scalar >= 0x202A and scalar <= 0x202E
            or scalar >= 0x2066 and scalar <= 0x2069 then is_name = false end
        place = place + 1 + more
    end
    return true, is_name
end

local function add_text(tree, field, range)
    local item = tree:add(field, range, range:string(ENC_UTF_8))
    local is_text, is_name = judge_text(range)
    if not is_text then refuse(item, "not UTF-8") end
    return item, is_name
end

-- Lists of entries -------------------------------------------------------------------------------------------------

-- Whether a uid is a hash of its peer's key.
local function is_keyed(range) return range(6, 1):bitfield(0, 4) == 8 and range(8, 1):bitfield(0, 2) == 2 end

local function add_uid(tree, range)
    local item = tree:add(f["uid"], range)
    if is_keyed(range) then item:append_text(" (keyed)") end
end

local function add_endpoint(tree, range, name)
    local part = tree:add(range, name)
    add_uid(part, range(0, 16))
    part:add(f["instance"], range(16, 8))
end

local function add_peer(tree, range)
    add_uid(tree, range(0, 16))
    local item, is_name = add_text(tree, f["name"], range(16))
    if is_name == false then refuse(item, "a name must not have control characters") end
end

local add_connection_data

-- How to show the value of an entry whose size is right: by list and name.
local VALUES = {
    hello = {
        VERSIONS = function(tree, value)
            if value:len() % 2 ~= 0 then refuse(tree, "half a version") end
            for place = 0, value:len() - 2, 2 do tree:add(f["version"], value(place, 2)) end
        end,
        SENDER = function(tree, value) add_endpoint(tree, value, "endpoint") end,
        RECEIVER = function(tree, value) add_endpoint(tree, value, "endpoint") end,
        MY_DATA_REF = function(tree, value) tree:add(f["reference"], value) end,
        YOUR_DATA_REF = function(tree, value) tree:add(f["reference"], value) end,
        NONCE = function(tree, value) tree:add(f["nonce"], value) end,
        LIMITS = function(tree, value)
            tree:add(f["max_message"], value(0, 8))
            tree:add(f["max_channels"], value(8, 4))
            tree:add(f["channel_credit"], value(12, 4))
            tree:add(f["message_credit"], value(16, 4))
            if value(0, 8):uint64() < UInt64(65536) then refuse(tree, "max_message below 65,536") end
        end,
        MEMBERS = function(tree, value)
            tree:add(f["count"], value(0, 1))
            local count = value(0, 1):uint()
            if count > 32 or value:len() ~= 1 + 24 * count then
                refuse(tree, "length does not match the count")
                return
            end
            for place = 1, value:len() - 24, 24 do add_endpoint(tree, value(place, 24), "member") end
        end,
        AGENT = function(tree, value) add_text(tree, f["agent"], value) end,
    },
    open = {
        KIND = function(tree, value) tree:add(f["channel_kind"], value) end,
        NAME = function(tree, value) add_text(tree, f["name"], value) end,
        SIZE = function(tree, value) tree:add(f["size"], value) end,
        METADATA = function(tree, value) tree:add(f["metadata"], value) end,
        NO_DIGEST = function(tree, value) tree:add(f["no_digest"], value) end,
    },
    fin = { DIGEST = function(tree, value) tree:add(f["digest"], value) end },
    invite = {
        ID = function(tree, value) tree:add(f["id"], value) end,
        INVITER = add_peer,
        RECIPIENT = add_uid,
        TIMEOUT = function(tree, value)
            tree:add(f["timeout"], value):append_text(" s")
            local seconds = value:uint()
            if seconds < 1 or seconds > 600 then refuse(tree, "not 1 to 600 s") end
        end,
        CONTEXT = function(tree, value) tree:add(f["context"], value) end,
    },
    answer = {
        ID = function(tree, value) tree:add(f["id"], value) end,
        CODE = function(tree, value) tree:add(f["code"], value) end,
        DATA = function(tree, value) add_connection_data(tree, value) end,
    },
    complete = {
        ID = function(tree, value) tree:add(f["id"], value) end,
        DATA = function(tree, value) add_connection_data(tree, value) end,
    },
    connectionData = {
        PEER = add_peer,
        INSTANCE = function(tree, value) tree:add(f["instance"], value) end,
        PREFERENCE = function(tree, value)
            tree:add(f["preference"], value)
            if not PREFERENCES[value:uint()] then refuse(tree, "no preference") end
        end,
        FINGERPRINT = function(tree, value)
            tree:add(f["algorithm"], value(0, 1))
            tree:add(f["fingerprint"], value(1))
            if value(0, 1):uint() ~= 1 then refuse(tree, "algorithm is not 1") end
        end,
        TOKEN = function(tree, value) tree:add(f["token"], value) end,
        LIFETIME = function(tree, value) tree:add(f["lifetime"], value):append_text(" s") end,
        RECIPIENT = add_uid,
        CANDIDATE = function(tree, value)
            local family = value(0, 1):uint()
            tree:add(f["family"], value(0, 1))
            tree:add(f["port"], value(1, 2))
            if family == 4 and value:len() == 7 then
                tree:add(f["address4"], value(3))
            elseif family == 6 and value:len() == 19 then
                tree:add(f["address6"], value(3))
            else
                refuse(tree, "family and length do not fit")
            end
        end,
    },
}

-- Shows the list that fills the range, makes the checks of 2.3 in order, and checks that mandatory entries are present.
-- Returns the values by name.
local function add_entries(tree, range, list)
    local known, place, last, found, candidates = ENTRIES[list], 0, -1, {}, 0
    while place < range:len() do
        local left = range:len() - place
        if left < 4 then
            refuse(tree:add(range(place), "rest"), "incomplete entry")
            return found
        end
        local kind, length = range(place, 2):uint(), range(place + 2, 2):uint()
        local row = known[kind]
        local shown = row and row.name or GREASE.tlv[kind] and "GREASE" or string.format("unknown entry 0x%04X", kind)
        local entry = tree:add(range(place, math.min(left, 4 + length)), shown)
        entry:add(f["entry.type"], range(place, 2))
        entry:add(f["entry.length"], range(place + 2, 2))
        if 4 + length > left then
            refuse(entry, "longer than its list")
            return found
        end
        if kind < last then refuse(entry, "after an entry of a higher type") end
        if kind == last and not (row and row.repeatable) then refuse(entry, "comes twice") end
        last = kind
        if row and row.name == "CANDIDATE" then
            candidates = candidates + 1
            if candidates == LIMITS.candidates + 1 then refuse(entry, "too many candidates") end
        end
        local value = length > 0 and range(place + 4, length) or nil
        if row and (length < row.min or length > row.max) then
            refuse(entry, string.format("%s has %d to %d bytes, not %d", row.name, row.min, row.max, length))
        elseif row and value then
            found[row.name] = value
            local show = VALUES[list][row.name]
            if show then show(entry, value) else entry:add(f["entry.value"], value) end
        elseif row then
            found[row.name] = false
        else
            if value then entry:add(f["entry.value"], value) end
            if kind >= 0x8000 then refuse(entry, "unknown, and critical")
            else entry:add_proto_expert_info(ignored, shown .. ": ignored") end
        end
        place = place + 4 + length
    end
    for _, row in pairs(known) do
        if row.mandatory and found[row.name] == nil then refuse(tree, row.name .. " is missing") end
    end
    return found
end

-- Connection data, 4.1. The checksum is shown, but not verified.
add_connection_data = function(tree, range)
    local data = tree:add(range, "connection data")
    local size = range:len()
    if size < 24 or size > LIMITS.connectionData then
        refuse(data, "connection data has 24 to 1,024 bytes")
        return
    end
    data:add(f["magic"], range(0, 4))
    data:add(f["data_version"], range(4, 1))
    local flags = data:add(f["flags"], range(5, 1))
    for _, flag in ipairs { "mesh", "identity", "datagrams" } do flags:add(f["flag." .. flag], range(5, 1)) end
    data:add(f["data_length"], range(6, 2))
    if range(0, 4):string() ~= MAGIC.connectionData then refuse(data, "does not begin with MPCD") end
    if range(4, 1):uint() ~= 1 then refuse(data, "version is not 1") end
    if range(6, 2):uint() ~= size then refuse(data, "length field is not the length of the data") end
    local found = size > 16 and add_entries(data, range(8, size - 16), "connectionData") or {}
    data:add(f["checksum"], range(size - 8, 8))
    local preference = found.PREFERENCE and PREFERENCES[found.PREFERENCE:uint()]
    if preference and (preference == "none") ~= (found.FINGERPRINT == nil) then
        refuse(data, "FINGERPRINT must be present if and only if the preference is not none")
    end
    local has_key = range(5, 1):bitfield(6, 1) == 1 and found.FINGERPRINT
    if found.PEER and is_keyed(found.PEER) and not has_key then
        refuse(data, "a keyed uid must have IDENTITY and FINGERPRINT")
    end
    if found.PEER then data:append_text(" of " .. found.PEER(16):string(ENC_UTF_8)) end
    return found, range(5, 1):uint() % 2 == 1
end

-- Payloads ---------------------------------------------------------------------------------------------------------

-- Associations seen in a DGRAM, by which datagrams are recognised.
local associations = {}

local function list(name) return function(tree, payload) return add_entries(tree, payload, name) end end
local function plain(field) return function(tree, payload) tree:add(f[field], payload) end end

-- Shows the lengths from `place` on. Returns the mesh data and the certificate, nil if empty, and how long the signature is.
local function counted(tree, payload, place)
    local parts = {}
    for part = 1, 2 do
        local left = payload:len() - place - 2
        local length = left >= 0 and payload(place, 2):uint() or 0
        if left < length then
            refuse(tree, "it ends too early")
            return
        end
        tree:add(f["length"], payload(place, 2))
        if length > 0 then parts[part] = payload(place + 2, length) end
        place = place + 2 + length
    end
    return parts[1], parts[2], payload:len() - place
end

-- How to show the payload of a kind, if it has the right size. Some return a text for the list of packets.
local PAYLOADS = {
    HELLO = list("hello"),
    CONFIRM = plain("mac"),
    CLOSE = function(tree, payload)
        tree:add(f["code"], payload(0, 2))
        if payload:len() > 2 then add_text(tree, f["reason"], payload(2)) end
        return CODES[payload(0, 2):uint()] or "INTERNAL"
    end,
    PING = plain("opaque"),
    PONG = plain("opaque"),
    MEMBERS = function(tree, payload)
        add_endpoint(tree, payload(0, 24), "endpoint")
        tree:add(f["sequence"], payload(24, 4))
        tree:add(f["count"], payload(28, 1))
        local count = payload(28, 1):uint()
        local data = 29 + 24 * count
        if count > 31 or data > payload:len() then
            refuse(tree, "length does not match the count")
            return
        end
        local own, last = payload(0, 24):bytes():tohex(), ""
        for place = 29, data - 24, 24 do
            add_endpoint(tree, payload(place, 24), "mesh link")
            local other = payload(place, 24):bytes():tohex()
            if other <= last then refuse(tree, "the list is not sorted") end
            if other == own then refuse(tree, "the list has its own endpoint") end
            last = other
        end
        local blob, certificate, signature = counted(tree, payload, data)
        if not signature then return end
        if not blob then
            refuse(tree, "mesh data is missing")
            return
        end
        local found, is_mesh = add_connection_data(tree, blob)
        local issuer = found and found.PEER and found.INSTANCE
            and found.PEER(0, 16):bytes():tohex() .. found.INSTANCE:bytes():tohex()
        if issuer and issuer ~= own then refuse(tree, "mesh data of another endpoint") end
        if found and (not is_mesh or found.RECIPIENT) then refuse(tree, "mesh data must have MESH and be open") end
        if certificate then tree:add(f["certificate"], certificate) end
        if signature > 0 then tree:add(f["signature"], payload(payload:len() - signature)) end
        local is_keyed = found and found.FINGERPRINT ~= nil
        local size = certificate and certificate:len() or 0
        if found and (is_keyed ~= (size > 0) or is_keyed ~= (signature > 0)) then
            refuse(tree, "certificate and signature do not fit the data")
        end
        if size > LIMITS.entryCertificate then refuse(tree, "the certificate is too large") end
        if signature > LIMITS.entrySignature then refuse(tree, "the signature is too long") end
        return string.format("%d links", count)
    end,
    DGRAM = function(tree, payload)
        tree:add(f["association"], payload(0, 8))
        tree:add(f["port"], payload(8, 2))
        tree:add(f["flags"], payload(10, 1))
        associations[payload(0, 8):bytes():tohex()] = true
    end,
    MSG = plain("message"),
    MSG_PART = plain("message"),
    OPEN = function(tree, payload)
        local found = add_entries(tree, payload, "open")
        return found.NAME and found.NAME:string(ENC_UTF_8)
    end,
    DATA = plain("bytes"),
    FIN = list("fin"),
    CREDIT = function(tree, payload)
        tree:add(f["limit"], payload)
        return tostring(payload:uint64())
    end,
    RESUME = function(tree, payload)
        tree:add(f["offset"], payload(0, 8))
        tree:add(f["first_bytes"], payload(8, 32))
        return tostring(payload(0, 8):uint64())
    end,
    BEGIN = function(tree, payload)
        tree:add(f["offset"], payload)
        return tostring(payload:uint64())
    end,
    SAS_COMMIT = plain("commitment"),
    SAS_NONCE = plain("nonce"),
    SAS_REVEAL = plain("nonce"),
    SHARE = function(tree, payload)
        tree:add(f["code_number"], payload(0, 2))
        tree:add(f["point"], payload(2))
        return tostring(payload(0, 2):uint())
    end,
    CONFIRMATION = plain("mac"),
    INVITE = list("invite"),
    ANSWER = function(tree, payload)
        local found = add_entries(tree, payload, "answer")
        local code = found.CODE and found.CODE:uint()
        if code and (code == 0) ~= (found.DATA ~= nil) then
            refuse(tree, "DATA must be present if and only if CODE is OK")
        end
        return code and (CODES[code] or "INTERNAL")
    end,
    COMPLETE = list("complete"),
}
local function code(tree, payload)
    tree:add(f["code"], payload)
    return CODES[payload:uint()] or "INTERNAL"
end
for _, name in ipairs { "RESET", "STOP", "DONE", "SAS_RESULT" } do PAYLOADS[name] = code end
-- Kinds whose payload is a list and may have no bytes: missing entries are reported even then.
local LISTS = { HELLO = "hello", OPEN = "open", INVITE = "invite", ANSWER = "answer", COMPLETE = "complete" }

-- Frames -----------------------------------------------------------------------------------------------------------

local stream_of = Field.new("tcp.stream")
-- For each TCP stream, the packets with the first HELLO and with SELECTED; for each direction, the packet with CLOSE.
local greeted, linked, closed = {}, {}, {}

function link.init() greeted, linked, closed, associations = {}, {}, {}, {} end

-- Returns the phase of a packet of a link; nil if the capture began too late to know it, or if it changes in this packet.
local function phase(stream, number)
    if not stream or not greeted[stream] or number < greeted[stream] then return nil end
    local border = linked[stream]
    if border == number then return nil end
    return border and number > border and "open" or "before-select"
end

-- Makes the checks of 7.5 and 12.9 that need only the header. Returns the fault, and whether the frame is skipped.
local function judge(kind, length, channel, now)
    local row = FRAMES[kind]
    local longest = LIMITS.frame
    if now == "before-select" or now == "invitation" and kind ~= 0x40 then longest = LIMITS.frameBeforeSelect end
    if length > longest then return string.format("%d bytes, more than %d", length, longest) end
    if not row then return kind < 0x80 and "unknown kind" or nil, kind >= 0x80 end
    if now == "invitation" then
        if row.phase ~= "invitation" and row.name ~= "CLOSE" then return row.name .. " is not allowed here" end
    elseif row.phase == "invitation" or now and row.phase ~= "any" and row.phase ~= now then
        return row.name .. " is not allowed here"
    end
    if row.channel == "zero" and channel ~= 0 then return "not on channel 0" end
    if row.channel == "nonzero" and channel == 0 then return "on channel 0" end
    if length < row.min or length > row.max then
        return string.format("%s has %d to %d bytes, not %d", row.name, row.min, row.max, length)
    end
end

-- Shows one frame, and returns its text for the list of packets. Of a refused frame only the header is shown.
local function add_frame(tree, range, stream, number, is_invitation, fault, is_skipped)
    local kind, channel = range(3, 1):uint(), range(4, 4):uint()
    local name = frame_names[kind]
    if stream and not is_invitation then
        if name == "HELLO" and not greeted[stream] then greeted[stream] = number end
        if name == "SELECTED" and not linked[stream] then linked[stream] = number end
    end
    local frame = tree:add(range, name .. (channel ~= 0 and string.format(", channel %d", channel) or ""))
    frame:add(f["length"], range(0, 3))
    local kind_item = frame:add(f["kind"], range(3, 1))
    frame:add(f["channel"], range(4, 4))
    local payload = range:len() > 8 and range(8) or nil
    local said
    if fault then
        refuse(frame, fault)
    elseif is_skipped then
        kind_item:add_proto_expert_info(ignored, name .. ": skipped")
    elseif payload and PAYLOADS[name] then
        said = PAYLOADS[name](frame, payload)
    elseif LISTS[name] then
        refuse(frame, "the list is empty")
    end
    if payload and (fault or is_skipped) then frame:add(f["payload"], payload) end
    if type(said) == "string" then frame:append_text(": " .. said) else said = nil end
    return name .. (channel ~= 0 and string.format("[%d]", channel) or "") .. (said and " " .. said or "")
end

-- Shows the frames in a piece of a stream, and asks for more bytes if the last frame is incomplete.
local function dissect(tvb, pinfo, root, proto, is_invitation)
    if tvb:captured_len() < tvb:reported_len() then return 0 end
    local found = stream_of()
    local stream = found and found.value
    local direction = string.format("%s %d", tostring(stream), pinfo.src_port)
    local tree = root:add(proto, tvb())
    local place, size, said = 0, tvb:len(), {}
    pinfo.cols.protocol = is_invitation and "MPC invite" or "MPC"
    while place < size do
        local left = size - place
        local head = tvb(place, math.min(left, 8)):string()
        if closed[direction] and closed[direction] < pinfo.number then
            tree:add(tvb(place), "after CLOSE"):add_proto_expert_info(ignored, "after CLOSE")
            break
        elseif not is_invitation and head == MAGIC.plainPreface then
            tree:add(f["preface"], tvb(place, 8))
            table.insert(said, "preface")
            place = place + 8
        elseif left < 8 then
            pinfo.desegment_offset, pinfo.desegment_len = place, DESEGMENT_ONE_MORE_SEGMENT
            break
        else
            local length, kind, channel = tvb(place, 3):uint(), tvb(place + 3, 1):uint(), tvb(place + 4, 4):uint()
            local now = is_invitation and "invitation" or phase(stream, pinfo.number)
            local fault, is_skipped = judge(kind, length, channel, now)
            if not fault and left < 8 + length then
                pinfo.desegment_offset, pinfo.desegment_len = place, 8 + length - left
                break
            end
            local range = tvb(place, math.min(left, 8 + length))
            table.insert(said, add_frame(tree, range, stream, pinfo.number, is_invitation, fault, is_skipped))
            place = place + range:len()
            if kind == 0x05 and not fault then
                closed[direction] = closed[direction] or pinfo.number
                if place < size then
                    tree:add(tvb(place), "after CLOSE"):add_proto_expert_info(ignored, "after CLOSE")
                end
                break
            elseif fault and left < 8 + length then
                break
            end
        end
    end
    if #said > 0 then
        local more = #said > 6 and string.format(", and %d more", #said - 6) or ""
        pinfo.cols.info = table.concat(said, ", ", 1, math.min(#said, 6)) .. more
    end
    return size
end

function link.dissector(tvb, pinfo, tree) return dissect(tvb, pinfo, tree, link, false) end
function invitation.dissector(tvb, pinfo, tree) return dissect(tvb, pinfo, tree, invitation, true) end

DissectorTable.get("tls.alpn"):add(ALPN.link, link)
DissectorTable.get("tls.alpn"):add(ALPN.invitation, invitation)
for _, proto in ipairs { link, invitation } do DissectorTable.get("tcp.port"):add_for_decode_as(proto) end

-- A plain link is recognised by its preface.
link:register_heuristic("tcp", function(tvb, pinfo, tree)
    if tvb:len() < 8 or tvb(0, 8):string() ~= MAGIC.plainPreface then return false end
    pinfo.conversation = link
    link.dissector(tvb, pinfo, tree)
    return true
end)

-- Datagrams --------------------------------------------------------------------------------------------------------

local dtls = Dissector.get("dtls")
-- True while DTLS inside one of our datagrams is being dissected.
local is_inside = false

function content.dissector(tvb, pinfo, root)
    local size = tvb:len()
    local tree = root:add(content, tvb())
    if size < 5 then
        refuse(tree, "a content has at least 5 bytes")
        return size
    end
    local row = DATAGRAM_CONTENTS[tvb(0, 1):uint()]
    tree:add(f["content.kind"], tvb(0, 1))
    tree:add(f["content.sequence"], tvb(1, 4))
    if size > 5 then tree:add(f["content.body"], tvb(5)) end
    if not row then refuse(tree, "unknown content")
    elseif size - 5 < row.min or size - 5 > row.max then refuse(tree, "wrong length for a " .. row.name) end
    local said = string.format("%s %d", row and row.name or "unknown", tvb(1, 4):uint())
    tree:append_text(": " .. said)
    pinfo.cols.protocol = "MPC datagram"
    pinfo.cols.info = said
    return size
end

-- Shows one datagram.
local function add_datagram(tvb, pinfo, root)
    local tree = root:add(datagram, tvb(0, 9))
    local kind = tvb(0, 1):uint()
    tree:add(f["datagram.kind"], tvb(0, 1))
    local association = tree:add(f["datagram.association"], tvb(1, 8))
    if tvb(1, 8):uint64() == UInt64(0) then refuse(association, "nobody's association") end
    if kind == 1 then
        is_inside = true
        dtls:call(tvb(9):tvb(), pinfo, root)
        is_inside = false
    elseif kind == 2 then
        content.dissector(tvb(9):tvb(), pinfo, root)
    else
        refuse(tree, "unknown kind")
    end
end

-- With UDP segmentation offload, a capture on the sender's machine has many datagrams in one packet: all but the last have
-- the same size, and each begins with the same header. Returns that size, or nil.
local function size_of_pieces(tvb)
    local bytes = tvb:raw()
    local next = bytes:find(bytes:sub(1, 9), 11, true)
    if not next or next - 1 > LIMITS.datagram then return nil end
    for place = next - 1, #bytes - 10, next - 1 do
        if bytes:sub(place + 1, place + 9) ~= bytes:sub(1, 9) then return nil end
    end
    return next - 1
end

function datagram.dissector(tvb, pinfo, root)
    local size = tvb:len()
    local piece = size
    pinfo.cols.protocol = "MPC datagram"
    if size > LIMITS.datagram then piece = size_of_pieces(tvb) end
    if size < 10 or not piece or size % piece ~= 0 and size % piece < 10 then
        refuse(root:add(datagram, tvb(0, math.min(size, 9))), "a datagram has 10 to 1,200 bytes")
        return size
    end
    for place = 0, size - 1, piece do
        add_datagram(tvb(place, math.min(piece, size - place)):tvb(), pinfo, root)
    end
    if piece < size then pinfo.cols.info = string.format("%d datagrams in one packet", math.ceil(size / piece)) end
    return size
end

DissectorTable.get("udp.port"):add_for_decode_as(datagram)

-- A datagram is recognised by an association that a link has announced, or by the DTLS record after the header.
datagram:register_heuristic("udp", function(tvb, pinfo, tree)
    if tvb:len() < 10 or not DATAGRAM_KINDS[tvb(0, 1):uint()] then return false end
    if not associations[tvb(1, 8):bytes():tohex()] then
        if tvb(0, 1):uint() ~= 1 or tvb:len() < 22 then return false end
        local record, version = tvb(9, 1):uint(), tvb(10, 2):uint()
        if record < 20 or record > 23 or version ~= 0xFEFD and version ~= 0xFEFF then return false end
    end
    pinfo.conversation = datagram
    datagram.dissector(tvb, pinfo, tree)
    return true
end)

content:register_heuristic("dtls", function(tvb, pinfo, tree)
    if not is_inside then return false end
    content.dissector(tvb, pinfo, tree)
    return true
end)
