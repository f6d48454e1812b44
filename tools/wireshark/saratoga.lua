-- SPDX-License-Identifier: MPL-2.0
--
-- Saratoga version 1 (draft-wood-tsvwg-saratoga-22) for Wireshark and tshark.
--
-- Lies where Wireshark looks for plugins, or: wireshark -X lua_script:saratoga.lua
-- Other ports than 7542: Decode As, or tshark -d udp.port==7000,saratoga

local saratoga = Proto("saratoga", "Saratoga")

local PORT = 7542
local EPOCH_2000 = 946684822 -- as in the draft: POSIX seconds at the wire's 0
local HOLES_SHOWN = 1000
local AUTHENTICATION = 49 -- octets; no list of holes has so many

local types = {[0] = "BEACON", "REQUEST", "METADATA", "DATA", "STATUS"}
local requests = {[0] = "no-op", "get", "put", "take", "give", "delete",
                  "getdir"}
local widths = {[0] = "16 bits", "32 bits", "64 bits", "128 bits"}
local kinds = {[0] = "file", "directory record",
               "reserved (bundle in older drafts)", "stream"}
local checksums = {[0] = "none", "CRC-32C", "MD5", "SHA-1",
                   [13] = "HMAC-SHA-256 (local)", [14] = "to follow (local)", [15] = "SHA-256 (local)"}
local stamps = {[0] = "local", "POSIX, 32 bits", "POSIX, 64 bits",
                "POSIX, 32 bits and fraction", "POSIX, 64 bits and fraction",
                "seconds since 2000"}
local codes = {
    [0x00] = "success", [0x01] = "unspecified error",
    [0x02] = "cannot send", [0x03] = "cannot receive",
    [0x04] = "file not found", [0x05] = "access denied",
    [0x06] = "unknown Id", [0x07] = "did not delete",
    [0x08] = "file too long", [0x09] = "descriptor does not match",
    [0x0A] = "unsupported packet type", [0x0B] = "unsupported request type",
    [0x0C] = "request timed out", [0x0D] = "DATA flags changed",
    [0x0E] = "receiver not interested", [0x0F] = "file in use",
    [0x10] = "METADATA required", [0x11] = "error STATUS not expected",
    [0x12] = "sender not heard in time"}

-- --- Fields -----------------------------------------------------------------

local f = {}

local function flag(name, text, bit)
    f[name] = ProtoField.bool("saratoga.flag." .. name, text, 32, nil,
                              bit32.lshift(1, 31 - bit))
end

local function bits(name, abbr, text, names, mask)
    f[name] = ProtoField.uint32("saratoga." .. abbr, text, base.DEC, names,
                                mask)
end

bits("version", "version", "Version", nil, 0xE0000000)
bits("type", "type", "Packet type", types, 0x1F000000)
bits("width_max", "descriptor.max", "Widest descriptor", widths, 0x00C00000)
bits("width", "descriptor", "Descriptor", widths, 0x00C00000)
bits("kind", "kind", "Transfer", kinds, 0x00300000)
bits("free_width", "free_space.descriptor", "Width of free space", widths,
     0x00003000)
bits("request", "request", "Request", requests, 0x000000FF)
bits("sum_words", "checksum.words", "Checksum length (32-bit words)", nil,
     0x000000F0)
bits("sum_type", "checksum.type", "Checksum type", checksums, 0x0000000F)
bits("code", "status", "Status", codes, 0x000000FF)
flag("streams", "Streams", 11)
flag("can_send", "Can send", 12)
flag("will_send", "Willing to send", 13)
flag("can_receive", "Can receive", 14)
flag("will_receive", "Willing to receive", 15)
flag("udplite", "UDP-Lite", 16)
flag("free_space", "Free space present", 17)
flag("ended", "Transfer ended by the sender", 12)
flag("udplite_permitted", "UDP-Lite permitted", 13)
flag("timestamp", "Timestamp present", 12)
flag("status_requested", "STATUS requested", 15)
flag("eod", "End of data", 16)
flag("no_metadata", "METADATA not received", 13)
flag("incomplete", "Hole list incomplete", 14)
flag("voluntary", "Voluntary", 15)

local denials = {"no such requests are served", "lacks the key",
                 "the checksum lacks the key", "a folder", "exists",
                 "permissions of files", "read-only", "bad name"}

f.denial = ProtoField.uint8("saratoga.denial", "Cause", base.DEC, denials)
f.id = ProtoField.uint32("saratoga.id", "Id", base.HEX)
f.free = ProtoField.uint64("saratoga.free_space", "Free space (KiB)")
f.eid = ProtoField.string("saratoga.eid", "Endpoint Identifier", base.UNICODE)
f.path = ProtoField.string("saratoga.path", "Path", base.UNICODE)
f.auth = ProtoField.bytes("saratoga.authentication", "Authentication")
f.padding = ProtoField.bytes("saratoga.padding", "Padding")
f.checksum = ProtoField.bytes("saratoga.checksum", "Checksum")
f.entry = ProtoField.none("saratoga.entry", "Directory entry")
f.properties = ProtoField.uint16("saratoga.entry.properties", "Properties",
                                 base.HEX)
f.special = ProtoField.bool("saratoga.entry.special", "Special file", 16, nil,
                            0x0200)
f.directory = ProtoField.bool("saratoga.entry.directory", "Directory", 16, nil,
                              0x0100)
f.entry_width = ProtoField.uint16("saratoga.entry.descriptor", "Width of size",
                                  base.DEC, widths, 0x00C0)
f.entry_udplite = ProtoField.bool("saratoga.entry.udplite",
                                  "UDP-Lite permitted", 16, nil, 0x0004)
f.size = ProtoField.uint64("saratoga.entry.size", "Size")
f.mtime = ProtoField.absolute_time("saratoga.entry.mtime", "Modified",
                                   base.UTC)
f.ctime = ProtoField.absolute_time("saratoga.entry.ctime", "Changed", base.UTC)
f.name = ProtoField.string("saratoga.entry.path", "Name", base.UNICODE)
f.stamp = ProtoField.bytes("saratoga.timestamp", "Timestamp")
f.stamp_type = ProtoField.uint8("saratoga.timestamp.type", "Kind", base.DEC,
                                stamps)
f.stamp_time = ProtoField.absolute_time("saratoga.timestamp.time", "Time",
                                        base.UTC)
f.offset = ProtoField.uint64("saratoga.offset", "Offset")
f.payload = ProtoField.bytes("saratoga.payload", "Payload")
f.payload_len = ProtoField.uint32("saratoga.payload.length", "Payload length")
f.progress = ProtoField.uint64("saratoga.progress", "Progress")
f.response = ProtoField.uint64("saratoga.in_response_to", "In response to")
f.hole_count = ProtoField.uint32("saratoga.holes", "Holes")
f.hole = ProtoField.none("saratoga.hole", "Hole")
f.hole_start = ProtoField.uint64("saratoga.hole.start", "First missing byte")
f.hole_end = ProtoField.uint64("saratoga.hole.end", "Last missing byte")
f.high = ProtoField.bytes("saratoga.high", "Upper 64 of 128 bits")
f.stray = ProtoField.bytes("saratoga.stray", "Stray octets")

saratoga.fields = f

local e = {
    short = ProtoExpert.new("saratoga.short", "The packet ends too early",
                            expert.group.MALFORMED, expert.severity.ERROR),
    version = ProtoExpert.new("saratoga.version_unknown",
                              "Not version 1; receivers drop it",
                              expert.group.PROTOCOL, expert.severity.WARN),
    unknown = ProtoExpert.new("saratoga.type_unknown",
                              "No such packet type", expert.group.PROTOCOL,
                              expert.severity.WARN),
    no_nul = ProtoExpert.new("saratoga.path_open",
                             "The path has no NUL at its end",
                             expert.group.MALFORMED, expert.severity.ERROR),
    entry = ProtoExpert.new("saratoga.entry_bad",
                            "Not a directory entry: its first bit is not set",
                            expert.group.MALFORMED, expert.severity.ERROR),
    hole = ProtoExpert.new("saratoga.hole_bad",
                           "A hole that ends before it begins",
                           expert.group.PROTOCOL, expert.severity.WARN),
    failure = ProtoExpert.new("saratoga.failure", "The transfer has failed",
                              expert.group.RESPONSE_CODE,
                              expert.severity.NOTE),
    cut = ProtoExpert.new("saratoga.entry_cut",
                          "An entry goes on in another packet",
                          expert.group.REASSEMBLE, expert.severity.CHAT)}

saratoga.experts = {e.short, e.version, e.unknown, e.no_nul, e.entry, e.hole,
                    e.failure, e.cut}

-- --- Parts ------------------------------------------------------------------

local function octets(width)
    return 2 ^ (width + 1)
end

-- A descriptor; of 128 bits the lower 64, which are all that anybody uses.
local function value(range)
    local n = range:len()
    return n > 8 and range(n - 8, 8):uint64() or range:uint64()
end

local function add(tree, field, range)
    local item = tree:add(field, range, value(range))
    if range:len() == 16 and range(0, 8):uint64() ~= UInt64(0) then
        item:add(f.high, range(0, 8))
    end
end

-- Where the NUL of a text from `at` on is, or nil.
local function find_nul(tvb, at)
    for i = at, tvb:len() - 1 do
        if tvb(i, 1):uint() == 0 then
            return i
        end
    end
    return nil
end

local function text_of(tvb, at, to)
    return to > at and tvb(at, to - at):string(ENC_UTF_8) or ""
end

-- An empty text has no range of its own: it is shown at its NUL.
local function add_text(tree, field, tvb, at, nul)
    if nul > at then
        tree:add_packet_field(field, tvb(at, nul - at), ENC_UTF_8)
    else
        tree:add(field, tvb(nul, 1), "")
    end
end

local function too_short(tree)
    tree:add_proto_expert_info(e.short)
    return nil
end

local function time_2000(range)
    return NSTime(range:uint() + EPOCH_2000)
end

local function nanoseconds(range)
    return math.floor(range:uint() * 1e9 / 2 ^ 32)
end

local function seconds_64(range)
    return range:int64():tonumber()
end

local function stamp_time(range)
    local kind = range(15, 1):uint()
    if kind == 1 then
        return NSTime(range(0, 4):int())
    elseif kind == 2 then
        return NSTime(seconds_64(range(0, 8)))
    elseif kind == 3 then
        return NSTime(range(0, 4):int(), nanoseconds(range(4, 4)))
    elseif kind == 4 then
        return NSTime(seconds_64(range(0, 8)), nanoseconds(range(8, 4)))
    elseif kind == 5 then
        return time_2000(range(0, 4))
    end
    return nil
end

local function add_stamp(tree, range)
    local item = tree:add(f.stamp, range)
    local time = stamp_time(range)
    item:add(f.stamp_type, range(15, 1))
    if time then
        item:add(f.stamp_time, range(0, 15), time)
    end
end

-- Returns the place behind the entry and its name; or nil, and whether it may
-- go on in another packet.
local function entry(tree, tvb, at)
    if tvb:len() - at < 2 then
        return nil, true
    end
    local properties = tvb(at, 2)
    if properties:bitfield(0, 1) == 0 then
        return nil, false
    end
    local width = octets(properties:bitfield(8, 2))
    local path = at + 2 + width + 8
    local nul = path <= tvb:len() and find_nul(tvb, path) or nil
    if not nul then
        return nil, true
    end
    local name = text_of(tvb, path, nul)
    local t = tree:add(f.entry, tvb(at, nul + 1 - at))
    t:append_text(": " .. name)
    local p = t:add(f.properties, properties)
    for _, field in ipairs({f.special, f.directory, f.entry_width,
                            f.entry_udplite}) do
        p:add(field, properties)
    end
    add(t, f.size, tvb(at + 2, width))
    t:add(f.mtime, tvb(at + 2 + width, 4), time_2000(tvb(at + 2 + width, 4)))
    t:add(f.ctime, tvb(at + 6 + width, 4), time_2000(tvb(at + 6 + width, 4)))
    add_text(t, f.name, tvb, path, nul)
    return nul + 1, name
end

-- NULs that fill up; returns the place behind.
local function padding(tree, tvb, at)
    local to = at
    while to < tvb:len() and tvb(to, 1):uint() == 0 do
        to = to + 1
    end
    if to > at then
        tree:add(f.padding, tvb(at, to - at))
    end
    return to
end

-- Entries of a record, which may begin and end in other packets.
local function record(tree, tvb, at)
    while at < tvb:len() do
        local behind, name = entry(tree, tvb, at)
        if not behind then
            local item = tree:add(f.payload, tvb(at))
            item:add_proto_expert_info(e.cut)
            return
        end
        at = padding(tree, tvb, behind)
    end
end

-- --- Packets ----------------------------------------------------------------

local function abilities(tree, word)
    for _, name in ipairs({"width_max", "streams", "can_send", "will_send",
                           "can_receive", "will_receive", "udplite"}) do
        tree:add(f[name], word)
    end
end

local function beacon(tree, flags, tvb)
    local word = tvb(0, 4)
    local at = 4
    abilities(flags, word)
    flags:add(f.free_space, word)
    if word:bitfield(17, 1) == 1 then
        local width = octets(word:bitfield(18, 2))
        flags:add(f.free_width, word)
        if tvb:len() < at + width then
            return too_short(tree)
        end
        add(tree, f.free, tvb(at, width))
        at = at + width
    end
    local eid = at < tvb:len() and tvb(at):string(ENC_UTF_8) or ""
    if eid ~= "" then
        tree:add_packet_field(f.eid, tvb(at), ENC_UTF_8)
    end
    return eid
end

local function request(tree, flags, tvb)
    local word = tvb(0, 4)
    abilities(flags, word)
    flags:add(f.request, word)
    local nul = find_nul(tvb, 8)
    if not nul then
        tree:add_proto_expert_info(e.no_nul)
        return nil
    end
    add_text(tree, f.path, tvb, 8, nul)
    if padding(tree, tvb, nul + 1) < tvb:len() then
        tree:add(f.auth, tvb(nul + 1))
    end
    local kind = word:bitfield(24, 8)
    return string.format("%s %s", requests[kind] or kind,
                         text_of(tvb, 8, nul))
end

local function metadata(tree, flags, tvb)
    local word = tvb(0, 4)
    for _, name in ipairs({"width", "kind", "ended", "udplite_permitted",
                           "sum_words", "sum_type"}) do
        flags:add(f[name], word)
    end
    local sum = 4 * word:bitfield(24, 4)
    if tvb:len() < 8 + sum + 2 then
        return too_short(tree)
    end
    if sum > 0 then
        tree:add(f.checksum, tvb(8, sum))
    end
    local behind, name = entry(tree, tvb, 8 + sum)
    if not behind then
        tree:add_proto_expert_info(name and e.short or e.entry)
        return nil
    end
    if padding(tree, tvb, behind) < tvb:len() then
        tree:add(f.stray, tvb(behind))
    end
    return string.format("%s %s", kinds[word:bitfield(10, 2)], name)
end

-- Behind the Id: the place where the descriptors begin, or nil.
local function stamp(tree, tvb)
    if tvb(0, 4):bitfield(12, 1) == 0 then
        return 8
    end
    if tvb:len() < 24 then
        return nil
    end
    add_stamp(tree, tvb(8, 16))
    return 24
end

local function data(tree, flags, tvb)
    local word = tvb(0, 4)
    for _, name in ipairs({"width", "kind", "timestamp", "status_requested",
                           "eod"}) do
        flags:add(f[name], word)
    end
    local width = octets(word:bitfield(8, 2))
    local at = stamp(tree, tvb)
    if not at or tvb:len() < at + width then
        return too_short(tree)
    end
    add(tree, f.offset, tvb(at, width))
    local offset = value(tvb(at, width))
    local payload = tvb:len() - at - width
    tree:add(f.payload_len, payload):set_generated()
    if payload > 0 and word:bitfield(10, 2) == 1 then
        record(tree, tvb, at + width)
    elseif payload > 0 then
        tree:add(f.payload, tvb(at + width))
    end
    return string.format("%d bytes at %s%s%s", payload, tostring(offset),
                         word:bitfield(16, 1) == 1 and ", end of data" or "",
                         word:bitfield(15, 1) == 1 and ", asks for STATUS" or
                         "")
end

local function holes(tree, tvb, at, width)
    local count = math.floor((tvb:len() - at) / (2 * width))
    tree:add(f.hole_count, count):set_generated()
    for i = 0, math.min(count, HOLES_SHOWN) - 1 do
        local first = tvb(at + 2 * i * width, width)
        local last = tvb(at + (2 * i + 1) * width, width)
        local item = tree:add(f.hole, tvb(at + 2 * i * width, 2 * width))
        add(item, f.hole_start, first)
        add(item, f.hole_end, last)
        item:append_text(string.format(": %s to %s", tostring(value(first)),
                                       tostring(value(last))))
        if value(last) < value(first) then
            item:add_proto_expert_info(e.hole)
        end
    end
    at = at + 2 * count * width
    if at < tvb:len() then
        tree:add(f.stray, tvb(at))
    end
    return count
end

local function status(tree, flags, tvb)
    local word = tvb(0, 4)
    local code = word:bitfield(24, 8)
    for _, name in ipairs({"width", "timestamp", "no_metadata", "incomplete",
                           "voluntary", "code"}) do
        flags:add(f[name], word)
    end
    if code ~= 0 then -- the rest is not to be read
        tree:add_proto_expert_info(e.failure)
        local behind = 8 + 2 * octets(word:bitfield(8, 2))
        if code == 5 and tvb:len() == behind + 1 then
            tree:add(f.denial, tvb(behind, 1))
        elseif tvb:len() > 8 then
            tree:add(f.stray, tvb(8))
        end
        return codes[code] or string.format("code 0x%02x", code)
    end
    local width = octets(word:bitfield(8, 2))
    local at = stamp(tree, tvb)
    if not at or tvb:len() < at + 2 * width then
        return too_short(tree)
    end
    add(tree, f.progress, tvb(at, width))
    add(tree, f.response, tvb(at + width, width))
    local count = 0
    if tvb:len() - at - 2 * width == AUTHENTICATION then
        tree:add(f.auth, tvb(at + 2 * width))
    else
        count = holes(tree, tvb, at + 2 * width, width)
    end
    return string.format("progress %s of %s, %d holes%s",
                         tostring(value(tvb(at, width))),
                         tostring(value(tvb(at + width, width))), count,
                         word:bitfield(14, 1) == 1 and " and more" or "")
end

local packets = {[0] = beacon, request, metadata, data, status}

-- --- Segments ---------------------------------------------------------------

local NOT_ALIKE = 0x00018000 -- flags in which DATA of one transfer differ

-- Whether a packet of the transfer with that first word may begin there.
local function begins(tvb, at, word)
    local here = tvb(at, 4):uint()
    local kind = bit32.rshift(here, 24)
    return kind == 0x22 or kind == 0x24 or
        bit32.bor(here, NOT_ALIKE) == bit32.bor(word, NOT_ALIKE)
end

-- A capture at a sender whose kernel or network card cuts the datagrams (UDP GSO)
-- has several of one length as a single one; the last may be shorter.  Returns
-- that length, or nil.  The Id of a transfer tells where they begin.
local function segment(tvb)
    local raw, word = tvb:raw(), tvb(0, 4):uint()
    local at = bit32.rshift(word, 24) == 0x23 and 12
    while at do
        at = raw:find(raw:sub(5, 8), at + 1, true)
        if at and at > 12 and begins(tvb, at - 5, word) then
            return at - 5
        end
    end
    return nil
end

-- --- The dissector ----------------------------------------------------------

-- Returns what the line about it says.
local function packet(tvb, root)
    local word = tvb(0, 4)
    local version, kind = word:bitfield(0, 3), word:bitfield(3, 5)
    local tree = root:add(saratoga, tvb())
    tree:add(f.version, word)
    if version ~= 1 then
        tree:add_proto_expert_info(e.version)
        return string.format("version %d", version)
    end
    local flags = tree:add(f.type, word)
    local name = types[kind]
    if not name then
        flags:add_proto_expert_info(e.unknown)
        return string.format("type %d", kind)
    end
    if kind ~= 0 then
        if tvb:len() < 8 then
            too_short(tree)
            return name
        end
        tree:add(f.id, tvb(4, 4))
    end
    local about = packets[kind](tree, flags, tvb)
    tree:append_text(", " .. name)
    if not about then
        return name .. " (malformed)"
    end
    return kind == 0 and name .. " " .. about or
        string.format("%s %08x: %s", name, tvb(4, 4):uint(), about)
end

function saratoga.dissector(tvb, pinfo, root)
    if tvb:len() < 4 then
        return 0
    end
    local size, at, count = segment(tvb) or tvb:len(), 0, 0
    pinfo.cols.protocol = "Saratoga"
    while tvb:len() - at >= 4 do
        local length = math.min(size, tvb:len() - at)
        local line = packet(tvb(at, length):tvb(), root)
        if at == 0 then
            pinfo.cols.info = line
        end
        at, count = at + length, count + 1
    end
    if count > 1 then
        pinfo.cols.info:append(string.format(", and %d more", count - 1))
    end
    return tvb:len()
end

DissectorTable.get("udp.port"):add(PORT, saratoga)
