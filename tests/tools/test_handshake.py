# SPDX-License-Identifier: MPL-2.0
"""Sealed calls to tltcp-recv by a caller that shares no code with it."""
import socket
import struct

import noise_peer
import toolbox

SECRET = "correct horse battery staple"
STREAM = b"camera/7?token=1234"


def parameters(stream=STREAM, features=0):
    numbers = ((1, 65536), (2, 100), (4, 1400), (5, features), (9, 0))
    body = b"".join(struct.pack(">BHI", i, 4, n) for i, n in numbers)
    return noise_peer.chunk(noise_peer.PARAMS, 0, body + struct.pack(
        ">BH", 8, len(stream)) + stream)


class Handshake(toolbox.Folder):
    def setUp(self):
        super().setUp()
        self.socket = toolbox.udp_socket()
        self.addCleanup(self.socket.close)

    def listen(self, *arguments):
        file = self.folder / "port"
        process = self.start("tltcp-recv", "-q", "--port-file", file,
                             *arguments, "tltcp://127.0.0.1:0",
                             self.folder / "out.ts")
        self.port = int(self.address(process, file)[0].rsplit(":", 1)[1])

    def send(self, packet):
        self.socket.sendto(packet, ("127.0.0.1", self.port))
        return self.socket.recv(2000)

    def caller(self, secret=SECRET, **more):
        return noise_peer.Caller(self.send, secret.encode(), **more)

    def connect(self, features=0, **more):
        caller = self.caller(**more)
        caller.ask()
        answer = caller.take(caller.hello(parameters(features=features)))
        self.assertEqual(answer[0], noise_peer.PARAMS)
        return caller

    def check_refused(self, packet):
        self.assertEqual((packet[0], packet[-8:-4]),
                         (noise_peer.REJECT, struct.pack(">I", 19)))

    def test_a_caller_with_the_passphrase_gets_in(self):
        self.listen("--passphrase", SECRET)
        caller = self.connect()
        chunks = caller.open(caller.short(b"\6\0\0\0"))  # a PING
        self.assertIn(noise_peer.first_chunk(chunks)[0], (0x01, 0x04, 0x06))

    def test_a_caller_with_the_key_gets_in(self):
        key = self.folder / "key"
        key.write_bytes(bytes(range(32)))
        key.chmod(0o600)
        self.listen("--key-file", key)
        self.connect(key=bytes(range(32)))

    def keys(self):
        """A listener's static key and two callers', one of them listed."""
        secrets = [bytes([8, n]) * 16 for n in (1, 2, 3)]
        identity, callers = self.folder / "identity", self.folder / "callers"
        identity.write_text(secrets[0].hex() + "\n", encoding="ascii")
        identity.chmod(0o600)
        callers.write_text(
            f"# ours\n\n{noise_peer.public(secrets[1]).hex()} camera 7\n",
            encoding="ascii")
        self.listen("--identity-file", identity, "--caller-keys", callers)
        return noise_peer.public(secrets[0]), *secrets[1:]

    def test_a_caller_with_its_static_key_gets_in(self):
        listener, camera, _ = self.keys()
        caller = self.connect(secret="", identity=camera, listener=listener)
        chunks = caller.open(caller.short(b"\6\0\0\0"))
        self.assertIn(noise_peer.first_chunk(chunks)[0], (0x01, 0x04, 0x06))

    def test_another_static_key_is_refused(self):
        listener, camera, other = self.keys()
        for identity, called in ((other, listener),
                                 (camera, noise_peer.public(other))):
            caller = self.caller("", identity=identity, listener=called)
            caller.ask()
            self.check_refused(caller.hello(parameters()))

    def ids(self, caller, packet):
        """The spare ids that the listener gives, in this packet or later."""
        while True:
            given = [struct.unpack(">I8sI", body)
                     for kind, _, body in noise_peer.chunks(
                         caller.open(packet)) if kind == noise_peer.NEW_ID]
            if given:
                return given
            packet = self.socket.recv(2000)

    def test_a_caller_that_moves_is_asked_under_another_id(self):
        self.listen("--passphrase", SECRET)
        caller = self.connect(features=noise_peer.FEATURE_IDS)
        mine, my_offset = b"\1\2\3\4\5\6\7\x08", 0xfffffff0
        given = self.ids(caller, caller.short(
            noise_peer.new_id(1, mine, my_offset)))
        self.assertEqual([number for number, _, _ in given], [1, 2, 3])
        _, theirs, offset = given[0]
        other = toolbox.udp_socket()
        with other:
            other.sendto(caller.sealed(b"\6\0\0\0", theirs, offset),
                         ("127.0.0.1", self.port))
            packet = other.recv(2000)
        text = caller.open(packet, mine, my_offset)
        self.assertIn(0x07, [kind for kind, _, _ in noise_peer.chunks(text)])

    def test_who_does_not_know_of_spare_ids_gets_none(self):
        self.listen("--passphrase", SECRET)
        caller = self.connect()
        text = caller.open(caller.short(b"\6\0\0\0"))
        self.assertNotIn(noise_peer.NEW_ID,
                         [kind for kind, _, _ in noise_peer.chunks(text)])

    def test_who_has_another_passphrase_is_told(self):
        self.listen("--passphrase", SECRET)
        caller = self.caller("another passphrase")
        caller.ask()
        self.check_refused(caller.hello(parameters()))

    def test_a_changed_message_is_refused(self):
        self.listen("--passphrase", SECRET)
        for at in (30, 60, 100, 140):
            caller = self.caller()
            caller.ask()
            caller.send, kept = (lambda packet: packet), caller.send
            packet = bytearray(caller.hello(parameters())[:-4])
            packet[at + 24] ^= 1
            self.check_refused(kept(bytes(packet) +
                                    noise_peer.crc32c(packet)))

    def test_a_recorded_call_is_asked_for_a_token(self):
        self.listen("--passphrase", SECRET)
        caller = self.connect()
        other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with other:
            other.settimeout(toolbox.PATIENCE)
            for _ in range(3):
                other.sendto(caller.initial, ("127.0.0.1", self.port))
                self.assertEqual(other.recv(2000)[0], noise_peer.RETRY)

    def test_no_two_listeners_have_the_same_salt(self):
        salts = set()
        for _ in range(3):
            self.listen("--passphrase", SECRET)
            caller = self.caller()
            caller.ask()
            salts.add(caller.salt)
            (self.folder / "port").unlink()
        self.assertEqual(len(salts), 3)

    def test_the_version_before_is_answered_by_a_list(self):
        self.listen("--passphrase", SECRET)
        caller = self.caller(version=noise_peer.VERSION - 1)
        versions = caller.call(b"")
        self.assertEqual(versions[0], 0x5b)
        self.assertIn(struct.pack(">I", noise_peer.VERSION), versions[21:-4])


class Primitives(toolbox.unittest.TestCase):
    """RFC 7748, 5.2 and RFC 8439, 2.8.2: the peer itself."""

    def test_x25519(self):
        self.assertEqual(noise_peer.x25519(
            bytes.fromhex("a546e36bf0527c9d3b16154b82465edd"
                          "62144c0ac1fc5a18506a2244ba449ac4"),
            bytes.fromhex("e6db6867583030db3594c1a424b15f7c"
                          "726624ec26b3353b10a903a6d0ab1c4c")).hex(),
                         "c3da55379de9c6908e94ea4df28d084f"
                         "32eccf03491c71f754b4075577a28552")

    def test_chacha20_poly1305(self):
        key = bytes(range(0x80, 0xa0))
        nonce = bytes.fromhex("070000004041424344454647")
        text = (b"Ladies and Gentlemen of the class of '99: If I could offer "
                b"you only one tip for the future, sunscreen would be it.")
        ad = bytes.fromhex("50515253c0c1c2c3c4c5c6c7")
        sealed = noise_peer.chacha(key, nonce, text)
        self.assertEqual(sealed[:16].hex(), "d31a8d34648e60db7b86afbc53ef7ec2")
        self.assertEqual(noise_peer.tag(key, nonce, ad, sealed).hex(),
                         "1ae10b594f09e26a7e902ecbd0600691")


if __name__ == "__main__":
    toolbox.unittest.main()
