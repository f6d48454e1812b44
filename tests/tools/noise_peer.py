# SPDX-License-Identifier: MPL-2.0
"""The caller's side of a sealed call, written from docs/protocols/tltcp.md with
the standard library alone: slow, and not safe against who measures time."""
import hashlib
import hmac
import os
import struct

VERSION = 0x544c0002
INITIAL, ANSWER, RETRY, REJECT = 0x58, 0x59, 0x5a, 0x5c
NOISE, OFFER, PARAMS = 0x11, 0x12, 0x10
NEW_ID, RETIRE_ID = 0x13, 0x14
FEATURE_IDS = 8
CHACHA = 2
MUTUAL = 0x80
NAME = b"Noise_NKpsk0_25519_ChaChaPoly_SHA256"
NAME_MUTUAL = b"Noise_IKpsk0+offer_25519_ChaChaPoly_SHA256"
P = 2 ** 255 - 19


# --- X25519 (RFC 7748) -------------------------------------------------------

def x25519(scalar, point):
    k = int.from_bytes(scalar, "little") & ~7 & (1 << 255) - 1 | 1 << 254
    u = int.from_bytes(point, "little") & (1 << 255) - 1
    a, b, c, d, swap = 1, 0, u, 1, 0  # x2, z2, x3, z3
    for i in reversed(range(255)):
        bit = k >> i & 1
        if swap ^ bit:
            a, b, c, d = c, d, a, b
        swap = bit
        p, m = a + b, a - b
        q, n = (c + d) * m, (c - d) * p
        c, d = (q + n) ** 2 % P, u * (q - n) ** 2 % P
        a, e = p * p * m * m % P, p * p - m * m
        b = e * (p * p + 121665 * e) % P
    if swap:
        a, b = c, d
    return (a * pow(b, P - 2, P) % P).to_bytes(32, "little")


def public(secret):
    return x25519(secret, (9).to_bytes(32, "little"))


# --- AES-256-CMAC (FIPS 197, NIST SP 800-38B) ---------------------------------

def times_x(byte):
    return byte << 1 ^ (0x11b if byte & 0x80 else 0)


def substitution():
    box, p, q = [0] * 256, 1, 1
    while True:
        p = times_x(p) ^ p  # 3 generates all bytes but 0; q is 1 / p
        for shift in 1, 2, 4:
            q ^= q << shift & 0xff
        q ^= 0x09 if q & 0x80 else 0
        turned = [(q << n | q >> 8 - n) & 0xff for n in range(5)]
        box[p] = turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] \
            ^ 0x63
        if p == 1:
            box[0] = 0x63
            return bytes(box)


SBOX = substitution()


def aes256(key, block):
    words = [list(key[i:i + 4]) for i in range(0, 32, 4)]
    constant = 1
    for i in range(8, 60):
        word = words[-1]
        if i % 8 == 0:
            word = [SBOX[b] for b in word[1:] + word[:1]]
            word[0] ^= constant
            constant = times_x(constant)
        elif i % 8 == 4:
            word = [SBOX[b] for b in word]
        words.append([a ^ b for a, b in zip(words[-8], word)])
    keys = [sum(words[i:i + 4], []) for i in range(0, 60, 4)]
    state = [a ^ b for a, b in zip(block, keys[0])]
    for at, key in enumerate(keys[1:], 1):
        state = [SBOX[state[i * 5 % 16]] for i in range(16)]
        if at < 14:
            for i in range(0, 16, 4):
                a, b, c, d = state[i:i + 4]
                state[i:i + 4] = [times_x(a ^ b) ^ b ^ c ^ d,
                                  times_x(b ^ c) ^ c ^ d ^ a,
                                  times_x(c ^ d) ^ d ^ a ^ b,
                                  times_x(d ^ a) ^ a ^ b ^ c]
        state = [a ^ b for a, b in zip(state, key)]
    return bytes(state)


def cmac(key, digest):
    """Of two whole blocks."""
    last = int.from_bytes(aes256(key, bytes(16)), "big") << 1
    last = last & (1 << 128) - 1 ^ (0x87 if last >> 128 else 0)
    first = aes256(key, digest[:16])
    return aes256(key, bytes(a ^ b ^ c for a, b, c in zip(
        first, digest[16:], last.to_bytes(16, "big"))))


# --- ChaCha20-Poly1305 (RFC 8439) --------------------------------------------

def chacha_block(key, counter, nonce):
    first = struct.unpack("<16I", b"expand 32-byte k" + key +
                          struct.pack("<I", counter) + nonce)
    x = list(first)

    def turn(a, b, to, n):
        x[a] = x[a] + x[b] & 0xffffffff
        x[to] ^= x[a]
        x[to] = (x[to] << n | x[to] >> 32 - n) & 0xffffffff

    for i in range(80):
        a, b, c, d = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14),
                      (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12),
                      (2, 7, 8, 13), (3, 4, 9, 14))[i % 8]
        turn(a, b, d, 16)
        turn(c, d, b, 12)
        turn(a, b, d, 8)
        turn(c, d, b, 7)
    return struct.pack("<16I", *(p + q & 0xffffffff
                                 for p, q in zip(x, first)))


def chacha(key, nonce, text):
    return bytes(a ^ b for at in range(0, len(text), 64)
                 for a, b in zip(text[at:at + 64],
                                 chacha_block(key, 1 + at // 64, nonce)))


def tag(key, nonce, ad, sealed):
    one = chacha_block(key, 0, nonce)[:32]
    r = int.from_bytes(one[:16], "little") & 0xffffffc0ffffffc0ffffffc0fffffff
    total = 0
    text = b"".join(part + bytes(-len(part) % 16) for part in (ad, sealed))
    text += struct.pack("<QQ", len(ad), len(sealed))
    for at in range(0, len(text), 16):
        total = (total + int.from_bytes(text[at:at + 16] + b"\1", "little")) \
            * r % (2 ** 130 - 5)
    return (total + int.from_bytes(one[16:], "little") & 2 ** 128 - 1) \
        .to_bytes(16, "little")


def nonce_of(number):
    return bytes(4) + struct.pack("<Q", number)


def seal(key, number, ad, text):
    sealed = chacha(key, nonce_of(number), text)
    return sealed + tag(key, nonce_of(number), ad, sealed)


def unseal(key, number, ad, sealed):
    if tag(key, nonce_of(number), ad, sealed[:-16]) != sealed[-16:]:
        raise ValueError("forged")
    return chacha(key, nonce_of(number), sealed[:-16])


# --- Noise -------------------------------------------------------------------

def hkdf(chaining, data, count):
    def mac(key, text):
        return hmac.new(key, text, hashlib.sha256).digest()

    secret, out = mac(chaining, data), [b""]
    for i in range(count):
        out.append(mac(secret, out[-1] + bytes([i + 1])))
    return out[1:]


class Noise:
    """NKpsk0 or, with the listener's static key, IKpsk0+offer; one side."""

    def __init__(self, psk, prologue, s, listener=None):
        self.h = hashlib.sha256(NAME_MUTUAL if listener else NAME).digest()
        self.ck, self.k = self.h, b""
        self.mix(prologue)
        if listener:
            self.mix(listener)
        self.mix(s)
        self.ck, middle, self.k = hkdf(self.ck, psk, 3)
        self.mix(middle)

    def mix(self, data):
        self.h = hashlib.sha256(self.h + data).digest()

    def mix_key(self, data):
        self.ck, self.k = hkdf(self.ck, data, 2)

    def token_e(self, key):
        self.mix(key)
        self.mix_key(key)

    def write(self, text):
        sealed = seal(self.k, 0, self.h, text)
        self.mix(sealed)
        return sealed

    def read(self, sealed):
        text = unseal(self.k, 0, self.h, sealed)
        self.mix(sealed)
        return text


# --- Packets -----------------------------------------------------------------

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return struct.pack(">I", crc ^ 0xffffffff)


def chunk(kind, flags, body):
    return struct.pack(">BBH", kind, flags, len(body)) + body


def first_chunk(body):
    kind, flags, length = struct.unpack(">BBH", body[:4])
    return kind, flags, body[4:4 + length]


def chunks(body):
    """All of them, up to padding."""
    while body and body[0] != 0:
        kind, flags, inner = first_chunk(body)
        yield kind, flags, inner
        body = body[4 + len(inner):]


def new_id(number, connection_id, offset):
    return chunk(NEW_ID, 0, struct.pack(">I8sI", number, connection_id,
                                        offset))


class Caller:
    """One call; `send` takes a datagram and gives the answer."""

    def __init__(self, send, passphrase=None, key=None, version=VERSION,
                 identity=None, listener=None):
        self.send, self.version = send, version
        self.identity, self.listener = identity, listener
        self.passphrase, self.key = passphrase, key
        self.scid, self.number = os.urandom(8), 0
        self.token = b""
        self.initial = b""  # what was sent last

    def call(self, body):
        """An INITIAL; what it is answered by."""
        head = struct.pack(">BI8s8sIB", INITIAL, self.version, bytes(8),
                           self.scid, self.number, len(self.token))
        packet = (head + self.token + body).ljust(1196, b"\0")
        self.number += 1
        self.initial = packet + crc32c(packet)
        return self.send(self.initial)

    def ask(self):
        """Takes up the listener's offer."""
        retry = self.call(chunk(NOISE, 0, b""))
        assert retry[0] == RETRY and retry[5:13] == self.scid, retry
        assert crc32c(retry[:-4]) == retry[-4:]
        self.token = retry[22:22 + retry[21]]
        kind, _, offer = first_chunk(retry[22 + retry[21]:-4])
        assert kind == OFFER and len(offer) == 52, retry
        assert offer[:4] == struct.pack(">I", self.number - 1)
        self.salt, self.s = offer[4:20], offer[20:]

    def psk(self):
        if not self.key and not self.passphrase:
            return hkdf(self.listener, b"tltcp listener 1", 1)[0]
        return self.key or hashlib.scrypt(
            self.passphrase, salt=b"tltcp passphrase 2" + self.salt, n=32768,
            r=8, p=1, maxmem=1 << 27, dklen=32)

    def hello(self, payload):
        """The INITIAL with the first message; what it is answered by."""
        psk = self.psk()
        prologue = struct.pack(">I8sB", self.version, self.scid,
                               len(self.token)) + self.token + self.salt
        self.e = os.urandom(32)
        noise = self.noise = Noise(psk, prologue, self.s, self.listener)
        noise.token_e(public(self.e))
        noise.mix_key(x25519(self.e, self.s))
        message = public(self.e)
        flags = CHACHA
        if self.identity:
            flags |= MUTUAL
            noise.mix_key(x25519(self.e, self.listener))
            message += noise.write(public(self.identity))
            noise.mix_key(x25519(self.identity, self.listener))
        message += noise.write(payload)
        said = prologue + self.s + bytes([flags]) + message
        proof = cmac(hkdf(psk, b"tltcp key proof 3", 1)[0],
                     hashlib.sha256(said).digest())
        return self.call(chunk(NOISE, flags, proof + message))

    def take(self, answer):
        """The payload of an ANSWER; the keys are known then."""
        assert answer[0] == ANSWER and answer[5:13] == self.scid, answer
        assert crc32c(answer[:-4]) == answer[-4:]
        kind, _, message = first_chunk(answer[26 + answer[25]:-4])
        assert kind == NOISE
        self.noise.token_e(message[:32])
        self.noise.mix_key(x25519(self.e, message[:32]))
        if self.identity:
            self.noise.mix_key(x25519(self.identity, message[:32]))
        text = self.noise.read(message[32:])
        self.dcid = answer[13:21]
        assert text[:8] == self.dcid
        self.up, self.down = hkdf(self.noise.ck, b"", 2)
        return text[8:]

    def sealed(self, text, dcid, offset=0):
        """A sealed packet to an id of the listener's."""
        head = b"\x50" + dcid + struct.pack(">I", self.number + offset &
                                            0xffffffff)
        packet = head + seal(self.up, self.number, head, text)
        self.number += 1
        return packet

    def short(self, text):
        """A sealed packet; what it is answered by."""
        return self.send(self.sealed(text, self.dcid))

    def open(self, packet, scid=None, offset=0):
        """The chunks of a sealed packet of the listener's."""
        assert packet[0] == 0x50, packet
        assert packet[1:9] == (scid or self.scid), packet
        number = struct.unpack(">I", packet[9:13])[0] - offset & 0xffffffff
        return unseal(self.down, number, packet[:13], packet[13:])
