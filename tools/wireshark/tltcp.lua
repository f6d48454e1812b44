-- SPDX-License-Identifier: MPL-2.0
--
-- TLTCP version 2 (docs/protocols/tltcp.md) for Wireshark and tshark.
--
-- Lies where Wireshark looks for plugins, or: wireshark -X lua_script:tltcp.lua
-- Connections are known by their handshake.  Where that is not in the capture:
-- Decode As, or tshark -d udp.port==7000,tltcp

local tltcp = Proto("tltcp", "TLTCP")

local VERSION = 0x544c0002
local TAG, CRC = 16, 4
local SHORT, SHORT_ODD, INITIAL, ANSWER = 0x50, 0x51, 0x58, 0x59
local RETRY, VERSIONS, REJECT = 0x5a, 0x5b, 0x5c

local types = {[SHORT] = "SHORT", [SHORT_ODD] = "SHORT", [INITIAL] = "INITIAL",
               [ANSWER] = "ANSWER", [RETRY] = "RETRY",
               [VERSIONS] = "VERSIONS", [REJECT] = "REJECT"}
local chunk_types = {
    [0x00] = "PADDING", [0x01] = "DATA", [0x02] = "UPDATE", [0x03] = "SKIP",
    [0x04] = "ACK", [0x05] = "WINDOW", [0x06] = "PING", [0x07] = "CHALLENGE",
    [0x08] = "RESPONSE", [0x09] = "FIN", [0x0a] = "CLOSE", [0x0b] = "REPORT",
    [0x0c] = "RTT", [0x0d] = "REPAIR", [0x0e] = "REBUILT",
    [0x0f] = "ACK_FREQUENCY", [0x10] = "PARAMS", [0x11] = "NOISE",
    [0x12] = "OFFER", [0x13] = "NEW_ID", [0x14] = "RETIRE_ID"}
local params = {"WINDOW", "SECTIONS", "IDLE_MS", "DATAGRAM", "FEATURES",
                "ACK_EVERY", "ACK_DELAY_MS", "STREAM_ID", "FIRST_SEQ",
                "LOCAL"}
local STREAM_ID = 8
local classes = {[0] = "OTHER", "HEADER", "KEY", "REFERENCE", "DISPOSABLE",
                 "AUDIO"}
local codes = {[0] = "orderly", [3] = "NOMEM", [9] = "REFUSED",
               [11] = "PROTOCOL", [12] = "FLOW", [13] = "ACK", [14] = "LIMIT",
               [19] = "AUTH", [22] = "ABORTED"}

-- --- Fields -----------------------------------------------------------------

local f = {}

local function number(name, text, bits, names)
    local make = ({[8] = ProtoField.uint8, [16] = ProtoField.uint16,
                   [32] = ProtoField.uint32, [64] = ProtoField.uint64})[bits]
    f[name:gsub("%.", "_")] = make("tltcp." .. name, text, base.DEC, names)
end

local function flag(name, text, mask)
    f[name:gsub("%.", "_")] = ProtoField.bool("tltcp." .. name, text, 8, nil,
                                              mask)
end

local function bytes(name, text)
    f[name:gsub("%.", "_")] = ProtoField.bytes("tltcp." .. name, text)
end

f.type = ProtoField.uint8("tltcp.type", "Packet type", base.HEX, types)
f.version = ProtoField.uint32("tltcp.version", "Version", base.HEX)
f.dcid = ProtoField.uint64("tltcp.dcid", "Destination connection id", base.HEX)
f.scid = ProtoField.uint64("tltcp.scid", "Source connection id", base.HEX)
f.check = ProtoField.uint32("tltcp.check", "Check (CRC-32C)", base.HEX)
f.chunk = ProtoField.none("tltcp.chunk", "Chunk")
f.chunk_type = ProtoField.uint8("tltcp.chunk.type", "Type", base.HEX,
                                chunk_types)
f.chunk_flags = ProtoField.uint8("tltcp.chunk.flags", "Flags", base.HEX)
f.text = ProtoField.string("tltcp.close.text", "Text", base.UNICODE)
f.stream_id = ProtoField.string("tltcp.param.stream_id", "Stream id",
                                base.UNICODE)
number("packet_number", "Packet number", 32)
number("token_length", "Token length", 8)
number("code", "Code", 32, codes)
number("chunk.length", "Length", 16)
number("offset", "Offset", 32)
number("section", "Section", 32)
number("data.offset", "Offset of the payload", 32)
number("start", "Start", 32)
number("end", "End", 32)
number("length", "Length", 32)
number("index", "Index", 8)
f.class = ProtoField.uint8("tltcp.class", "Class", base.DEC, classes, 0x0f)
f.stream = ProtoField.uint8("tltcp.stream", "Stream", base.DEC, nil, 0xf0)
number("depends", "Distance to the section that it refers to", 32)
f.section_tag = ProtoField.uint64("tltcp.section_tag", "Tag of the section",
                                  base.DEC)
number("ack.largest", "Largest packet", 32)
number("ack.delay", "Delay (us)", 32)
number("ack.cumulative", "Cumulative offset", 32)
number("ack.first", "Packets below it without a hole", 32)
number("ack.missing", "Then missing", 32)
number("ack.present", "Then received", 32)
number("ack.ect0", "ECT(0)", 32)
number("ack.ect1", "ECT(1)", 32)
number("ack.ce", "CE", 32)
number("ack.time", "Arrived (us)", 32)
number("report.loss", "Loss event rate (2^-32)", 32)
number("report.rate", "Receive rate (bytes/s)", 64)
number("rtt", "Smoothed RTT (us)", 32)
number("frequency.packets", "Packets for an ACK", 16)
number("frequency.wait", "Longest wait (ms)", 16)
number("param.id", "Parameter", 8, {[0] = "0", table.unpack(params)})
number("param.value", "Value", 32)
flag("data.first", "First byte of the section", 1)
flag("data.last", "Last byte of the section", 2)
flag("data.class", "Class and stream follow", 4)
flag("data.depends", "Reference follows", 8)
flag("data.tag", "Tag follows", 16)
flag("repair.first", "The block begins its section", 1)
flag("repair.last", "The block ends its section", 2)
flag("ack.ecn", "ECN counts follow", 1)
flag("ack.timed", "Time of arrival follows", 2)
flag("frequency.calm", "Gaps do not hasten ACKs", 1)
flag("close.echo", "Echo", 1)
flag("key_phase", "Key phase", 1)
bytes("token", "Token")
bytes("payload", "Payload")
bytes("symbol", "Repair symbol")
bytes("nonce", "Nonce")
bytes("sealed", "Sealed chunks")
bytes("tag", "Tag")
bytes("noise.proof", "Proof of the key")
bytes("noise.message", "Noise message")
number("offer.packet_number", "Packet number of the INITIAL", 32)
bytes("offer.salt", "Salt of passphrases")
bytes("offer.public_key", "Diffie-Hellman key of the listener")
bytes("param.bytes", "Bytes")
bytes("padding", "Padding")

tltcp.fields = f

local e = {
    short = ProtoExpert.new("tltcp.short", "It ends too early",
                            expert.group.MALFORMED, expert.severity.ERROR),
    unknown = ProtoExpert.new("tltcp.unknown", "Not known to version 2",
                              expert.group.PROTOCOL, expert.severity.WARN),
    excess = ProtoExpert.new("tltcp.excess", "The body is too long",
                             expert.group.MALFORMED, expert.severity.ERROR),
    check = ProtoExpert.new("tltcp.check_bad", "The check is wrong",
                            expert.group.CHECKSUM, expert.severity.ERROR),
    closed = ProtoExpert.new("tltcp.closed", "Ended with an error",
                             expert.group.RESPONSE_CODE,
                             expert.severity.NOTE)}

tltcp.experts = {e.short, e.unknown, e.excess, e.check, e.closed}

-- --- The check --------------------------------------------------------------

local crc_of = {}
for i = 0, 255 do
    local crc = i
    for _ = 1, 8 do
        crc = bit32.bxor(bit32.rshift(crc, 1),
                         bit32.band(crc, 1) ~= 0 and 0x82f63b78 or 0)
    end
    crc_of[i] = crc
end

local function crc32c(range)
    local crc = 0xffffffff
    local raw = range:bytes()
    for i = 0, raw:len() - 1 do
        crc = bit32.bxor(bit32.rshift(crc, 8),
                         crc_of[bit32.band(bit32.bxor(crc, raw:get_index(i)),
                                           0xff)])
    end
    return bit32.bnot(crc)
end

-- Ends on one machine may leave the check out.
local function is_unchecked(tvb)
    return tvb(0, 1):uint() == SHORT and
           tvb(tvb:len() - CRC, CRC):uint() == 0
end

local function is_plain(tvb)
    local at = tvb:len() - CRC
    return is_unchecked(tvb) or crc32c(tvb(0, at)) == tvb(at, CRC):uint()
end

-- --- Reading on -------------------------------------------------------------

-- A place in a packet or a body; what is missing is told once.
local function reader(tree, range)
    local r = {tree = tree, range = range, at = 0, good = true}

    function r.left()
        return r.range:len() - r.at
    end

    function r.take(n)
        if r.good and r.left() < n then
            r.good = false
            r.tree:add_proto_expert_info(e.short)
        end
        if not r.good or n == 0 then
            return nil
        end
        r.at = r.at + n
        return r.range(r.at - n, n)
    end

    -- Shows the next n bytes as that field, and gives them.
    function r.show(field, n)
        local range = r.take(n)
        if range then
            r.tree:add(field, range)
        end
        return range
    end

    function r.rest(field)
        return r.left() > 0 and r.show(field, r.left()) or nil
    end

    return r
end

local function uint(range)
    return range and range:uint() or 0
end

-- --- Chunks -----------------------------------------------------------------

local function flags(names)
    return function(r, range)
        for _, name in ipairs(names) do
            r.tree:add(f[name], range)
        end
    end
end

local function offset_and_section(r)
    local offset = r.show(f.offset, 4)
    r.show(f.section, 4)
    return string.format("%d", uint(offset))
end

-- What the flags of DATA and REPAIR announce of the section.
local function meta(r, bits)
    if bit32.band(bits, 4) ~= 0 then
        local both = r.show(f.class, 1)
        if both then
            r.tree:add(f.stream, both)
        end
    end
    if bit32.band(bits, 8) ~= 0 then
        r.show(f.depends, 4)
    end
    if bit32.band(bits, 16) ~= 0 then
        r.show(f.section_tag, 8)
    end
end

local function data(r, bits)
    local offset = r.show(f.offset, 4)
    if offset then
        r.tree:add(f.data_offset, offset):set_generated()
    end
    local section = r.show(f.section, 4)
    meta(r, bits)
    local payload = r.rest(f.payload)
    if not payload then
        r.tree:add_proto_expert_info(e.short)
    end
    return string.format("%d at %d (section %d)",
                         payload and payload:len() or 0, uint(offset),
                         uint(section))
end

local function skip(r)
    local from, to = r.show(f.start, 4), r.show(f["end"], 4)
    r.show(f.section, 4)
    return string.format("%d to %d", uint(from), uint(to))
end

local function ack(r, bits)
    local largest = r.show(f.ack_largest, 4)
    r.show(f.ack_delay, 4)
    r.show(f.ack_cumulative, 4)
    r.show(f.offset, 4)
    r.show(f.section, 4)
    r.show(f.ack_first, 4)
    if bit32.band(bits, 1) ~= 0 then
        r.show(f.ack_ect0, 4)
        if bit32.band(bits, 2) == 0 then
            r.show(f.ack_ect1, 4)
        end
        r.show(f.ack_ce, 4)
    end
    if bit32.band(bits, 2) ~= 0 then
        r.show(f.ack_time, 4)
    end
    while r.good and r.left() > 0 do
        local missing, present = r.take(4), r.take(4)
        if present then
            r.tree:add(f.ack_missing, missing, uint(missing) + 1)
            r.tree:add(f.ack_present, present, uint(present) + 1)
        end
    end
    return string.format("%d", uint(largest))
end

local function nonce(r)
    r.show(f.nonce, 8)
end

local function close(r)
    local code = r.show(f.code, 4)
    local text = r.rest(f.text)
    if uint(code) ~= 0 then
        r.tree:add_proto_expert_info(e.closed)
    end
    return (codes[uint(code)] or tostring(uint(code))) ..
           (text and ": " .. text:string(ENC_UTF_8) or "")
end

local function report(r)
    local loss = r.show(f.report_loss, 4)
    r.show(f.report_rate, 8)
    return string.format("%.4g", uint(loss) / 2 ^ 32)
end

local function rtt(r)
    return string.format("%.3f ms", uint(r.show(f.rtt, 4)) / 1000)
end

local function frequency(r)
    local packets = uint(r.show(f.frequency_packets, 2))
    return string.format("%d packets, %d ms", packets,
                         uint(r.show(f.frequency_wait, 2)))
end

local function repair(r, bits)
    local from = r.show(f.start, 4)
    r.show(f.section, 4)
    local length = r.show(f.length, 4)
    local index = r.show(f.index, 1)
    meta(r, bits)
    if not r.rest(f.symbol) then
        r.tree:add_proto_expert_info(e.short)
    end
    return string.format("%d of %d at %d", uint(index), uint(length),
                         uint(from))
end

local function rebuilt(r)
    local from, length = r.show(f.start, 4), r.show(f.length, 4)
    return string.format("%d at %d", uint(length), uint(from))
end

local function parameters(r)
    while r.good and r.left() > 0 do
        local id = r.show(f.param_id, 1)
        local length = r.take(2)
        local n = uint(length)
        if uint(id) == STREAM_ID and n > 0 then
            r.show(f.stream_id, n)
        elseif n == 4 then
            r.show(f.param_value, n)
        elseif length and n > 0 then
            r.show(f.param_bytes, n)
        end
    end
end

-- The client's message comes behind the proof of its key; its first INITIAL has
-- neither.
local function noise(r, _, packet)
    if r.left() == 0 then
        return "asks for an offer"
    end
    if packet == INITIAL then
        r.show(f.noise_proof, 16)
    end
    r.rest(f.noise_message)
end

local function offer(r)
    local n = r.show(f.offer_packet_number, 4)
    r.show(f.offer_salt, 16)
    r.show(f.offer_public_key, 32)
    return string.format("to %d", uint(n))
end

local chunks = {
    [0x01] = {data, flags({"data_first", "data_last", "data_class",
                           "data_depends", "data_tag"})},
    [0x02] = {offset_and_section}, [0x03] = {skip},
    [0x04] = {ack, flags({"ack_ecn", "ack_timed"})}, [0x05] = {offset_and_section},
    [0x06] = {}, [0x07] = {nonce}, [0x08] = {nonce},
    [0x09] = {offset_and_section}, [0x0a] = {close, flags({"close_echo"})},
    [0x0b] = {report}, [0x0c] = {rtt},
    [0x0d] = {repair, flags({"repair_first", "repair_last", "data_class",
                             "data_depends", "data_tag"})},
    [0x0e] = {rebuilt}, [0x0f] = {frequency, flags({"frequency_calm"})},
    [0x10] = {parameters}, [0x11] = {noise},
    [0x12] = {offer}}

local function chunk(tree, range, packet)
    local head = range(0, 4)
    local kind, bits = head(0, 1):uint(), head(1, 1):uint()
    local item = tree:add(f.chunk, range)
    local name = chunk_types[kind] or string.format("chunk 0x%02x", kind)
    local how = chunks[kind]
    item:set_text(name)
    item:add(f.chunk_type, head(0, 1))
    local shown = item:add(f.chunk_flags, head(1, 1))
    item:add(f.chunk_length, head(2, 2))
    if not how then
        item:add_proto_expert_info(e.unknown)
        return name
    end
    if how[2] then
        how[2]({tree = shown}, head(1, 1))
    end
    -- An empty body is read as one: what it lacks is told.
    local body = range:len() > 4 and range(4) or range(4, 0)
    local r = reader(item, body)
    local about = how[1] and how[1](r, bits, packet)
    if r.good and r.left() > 0 then
        item:add_proto_expert_info(e.excess)
    end
    if about then
        item:append_text(" " .. about)
        return name .. " " .. about
    end
    return name
end

-- What the chunks say, in a line.
local function read_chunks(tree, tvb, at, stop, packet)
    local about = {}
    while at < stop do
        if tvb(at, 1):uint() == 0 then
            tree:add(f.padding, tvb(at, stop - at))
            break
        end
        if stop - at < 4 or stop - at < 4 + tvb(at + 2, 2):uint() then
            tree:add_proto_expert_info(e.short)
            break
        end
        local length = 4 + tvb(at + 2, 2):uint()
        about[#about + 1] = chunk(tree, tvb(at, length), packet)
        at = at + length
    end
    return table.concat(about, ", ")
end

-- --- Packets ----------------------------------------------------------------

local function add_check(tree, tvb)
    local item = tree:add(f.check, tvb(tvb:len() - CRC, CRC))
    if not is_plain(tvb) then
        item:add_proto_expert_info(e.check)
    elseif is_unchecked(tvb) then
        item:append_text(" (none)")
    end
end

local function short(tree, tvb)
    local r = reader(tree, tvb(1))
    tree:add(f.key_phase, tvb(0, 1))
    r.show(f.dcid, 8)
    local n = uint(r.show(f.packet_number, 4))
    local at = 13
    if tvb:len() < at + CRC then
        tree:add_proto_expert_info(e.short)
        return nil
    end
    if is_plain(tvb) then
        add_check(tree, tvb)
        return string.format("%d: %s", n, read_chunks(
            tree, tvb, at, tvb:len() - CRC, SHORT))
    end
    local sealed = tvb:len() - at - TAG
    if sealed > 0 then
        tree:add(f.sealed, tvb(at, sealed))
    end
    if sealed >= 0 then
        tree:add(f.tag, tvb(tvb:len() - TAG, TAG))
    end
    return string.format("%d: %d bytes, sealed or damaged", n,
                         math.max(sealed, 0))
end

local function token(r)
    local length = r.show(f.token_length, 1)
    if uint(length) > 0 then
        r.show(f.token, uint(length))
    end
end

local function long(tree, tvb, kind)
    local stop = tvb:len() - CRC
    local r = reader(tree, stop > 1 and tvb(1, stop - 1) or tvb(1))
    local about = ""
    r.show(f.version, 4)
    r.show(f.dcid, 8)
    r.show(f.scid, 8)
    if kind == INITIAL or kind == ANSWER then
        local n = uint(r.show(f.packet_number, 4))
        token(r)
        about = r.good and string.format("%d: %s", n, read_chunks(
            tree, tvb, 1 + r.at, stop, kind)) or ""
    elseif kind == VERSIONS then
        while r.good and r.left() > 0 do
            about = string.format("%s %08x", about,
                                  uint(r.show(f.version, 4)))
        end
    else
        token(r)
        if kind == REJECT then
            local code = uint(r.show(f.code, 4))
            tree:add_proto_expert_info(e.closed)
            about = codes[code] or tostring(code)
        elseif r.good and r.left() > 0 then
            about = read_chunks(tree, tvb, 1 + r.at, stop, kind)
        end
    end
    if r.good and stop > 1 then
        add_check(tree, tvb)
    end
    return about
end

-- A capture at a sender whose kernel or network card cuts the datagrams (UDP GSO)
-- has several of one length as a single one; the last may be shorter.  Returns
-- that length, or nil.  The next packet number tells where the second begins.
local function segment(tvb)
    if tvb:len() < 26 or bit32.band(tvb(0, 1):uint(), 0xfe) ~= SHORT then
        return nil
    end
    local next_one = bit32.band(tvb(9, 4):uint() + 1, 0xffffffff)
    local at = tvb:raw():find(tvb:raw(0, 9) .. Struct.pack(">I4", next_one), 14,
                              true)
    return at and at - 1
end

-- Returns what the line about it says.
local function packet(tvb, root)
    local kind = tvb(0, 1):uint()
    local tree = root:add(tltcp, tvb())
    local item = tree:add(f.type, tvb(0, 1))
    local name = types[kind]
    if not name then
        item:add_proto_expert_info(e.unknown)
        return string.format("type 0x%02x", kind)
    end
    local about
    if kind == SHORT or kind == SHORT_ODD then
        about = short(tree, tvb)
    else
        about = long(tree, tvb, kind)
    end
    tree:append_text(", " .. name)
    return name .. (about and " " .. about or " (malformed)")
end

function tltcp.dissector(tvb, pinfo, root)
    if tvb:len() < 2 then
        return 0
    end
    local size, at, count = segment(tvb) or tvb:len(), 0, 0
    pinfo.cols.protocol = "TLTCP"
    while tvb:len() - at >= 2 do
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

-- A handshake has the version at a fixed place; all packets between the same
-- two ports belong to it.
local function is_ours(tvb, pinfo, root)
    if tvb:len() < 25 then
        return false
    end
    local kind, version = tvb(0, 1):uint(), tvb(1, 4):uint()
    if not types[kind] or kind < INITIAL or
       version ~= (kind == VERSIONS and 0 or VERSION) or
       (kind == VERSIONS and not is_plain(tvb)) then
        return false
    end
    tltcp.dissector(tvb, pinfo, root)
    pinfo.conversation = tltcp
    return true
end

tltcp:register_heuristic("udp", is_ours)
DissectorTable.get("udp.port"):add_for_decode_as(tltcp)
