# SPDX-License-Identifier: MPL-2.0
"""linkem by its command line, with real sockets."""
import os
import re
import signal
import socket
import subprocess
import unittest

import toolbox

HEADERS = 28  # IPv4 and UDP
UDP_SEGMENT = 103  # of <linux/udp.h>


class CommandLine(unittest.TestCase):
    def refuse(self, word, *arguments, status=2):
        done = toolbox.run("linkem", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(word, done.stderr)
        first = done.stderr.splitlines()[0]
        self.assertTrue(first.startswith("linkem: "), first)
        self.assertEqual(done.stdout, "")

    def test_it_prints_help_and_version(self):
        done = toolbox.run("linkem", "--help-all")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Usage: linkem", done.stdout)
        self.assertLess(max(map(len, done.stdout.splitlines())), 80)
        done = toolbox.run("linkem", "--version")
        self.assertRegex(done.stdout, r"^linkem \(Perigee\) \d+\.\d+\.\d+\n$")

    def test_wrong_usage_ends_with_2_and_a_sentence(self):
        self.refuse("missing")
        self.refuse("both", "127.0.0.1:0")
        self.refuse("--nonsense", "--nonsense")
        self.refuse("-x", "-x")
        self.refuse("--rate needs a value", "--rate")
        self.refuse("--co is ambiguous: --codel, --corrupt", "--co", "1%")
        self.refuse("rate=2mbps", "--rate", "2mbps")
        self.refuse("no setting 'speed'", "--both", "speed=1")
        self.refuse("--at", "--at", "10s")
        self.refuse("unit", "--at", "10,rate=1mbit")
        self.refuse("loss", "--at", "10s,loss=2")
        self.refuse("No such file", "--up", "trace=/nonexistent/x")
        self.refuse("LISTEN=TARGET", "--share", "127.0.0.1:1")
        self.refuse("port", "127.0.0.1", "127.0.0.1:1")
        self.refuse("HOST:PORT", "--port", "7000", "127.0.0.1:0",
                    "127.0.0.1:1")
        self.refuse("port", "127.0.0.1:0", "127.0.0.1:70000")
        self.refuse("cannot be 0", "127.0.0.1:0", "127.0.0.1:0")
        self.refuse("--tun", "--tun", "a,b", "127.0.0.1:0", "127.0.0.1:1")
        self.refuse("comma", "--tun", "a")
        self.refuse("--repeat", "--at", "9s,loss=1%", "--repeat", "5s",
                    "127.0.0.1:0", "127.0.0.1:1")

    def test_options_that_do_nothing_are_refused(self):
        addresses = ("--duration", "100ms", "127.0.0.1:0", "127.0.0.1:1")
        self.refuse("add --at", "--repeat", "5s", *addresses)
        idle = "needs red, codel or pie"
        self.refuse(idle, "--ecn", "on", *addresses)
        self.refuse(idle, "--up", "codel=on", "--down", "ecn=on", *addresses)
        self.refuse(idle, "--at", "5s,ecn=on", *addresses)
        self.refuse(idle, "--pie", "on", "--at", "5s,pie=off", "--at",
                    "6s,ecn=on", *addresses)
        for useful in (["--ecn", "on", "--up", "pie=on"],
                       ["--red", "5:15:10%", "--at", "1s,ecn=on"],
                       ["--ecn", "on", "--at", "1s,down:codel=on"],
                       ["--at", "1s,pie=on", "--at", "2s,pie=off", "--at",
                        "3s,ecn=on", "--repeat", "4s"],
                       ["--ecn", "off"]):
            done = toolbox.run("linkem", "-q", *useful, *addresses)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_setting_is_an_option(self):
        told = toolbox.run("linkem", "--help-all").stdout
        settings = re.findall(r"(?m)^  ([a-z-]+)=", told)
        self.assertGreater(len(settings), 20)
        for name in settings:
            self.refuse(f"{name}=wrong", f"--{name}", "wrong")

    def test_failures_end_with_1_and_a_sentence(self):
        with toolbox.udp_socket() as s:
            self.refuse("cannot listen",
                        f"127.0.0.1:{s.getsockname()[1]}", "127.0.0.1:1",
                        status=1)
        self.refuse("no.such.host.invalid", "no.such.host.invalid:1",
                    "127.0.0.1:1", status=1)
        self.refuse("cannot write", "--json", "/nonexistent/x", "127.0.0.1:0",
                    "127.0.0.1:1", status=1)
        self.refuse("cannot write", "--port-file", "/nonexistent/x",
                    "127.0.0.1:0", "127.0.0.1:1", status=1)
        self.refuse("cannot write /dev/full", "--log", "/dev/full", "--quiet",
                    "--duration", "10ms", "127.0.0.1:0", "127.0.0.1:1",
                    status=1)


class Relay(toolbox.Folder):
    def setUp(self):
        super().setUp()
        self.target = toolbox.udp_socket()
        self.addCleanup(self.target.close)
        self.to_target = f"127.0.0.1:{self.target.getsockname()[1]}"

    def client(self, port):
        s = toolbox.udp_socket()
        self.addCleanup(s.close)
        s.connect(("127.0.0.1", port))
        return s

    def relay(self, *arguments):
        process, ports = self.linkem(*arguments, "127.0.0.1:0", self.to_target)
        return process, ports[0]

    def receive(self, count):
        return [self.target.recv(2000) for _ in range(count)]

    def test_datagrams_arrive_unchanged_and_in_order(self):
        process, port = self.relay("--delay", "1ms", "--jitter", "5ms")
        client = self.client(port)
        sent = [os.urandom(1 + 37 * i) for i in range(30)]
        for data in sent:
            client.send(data)
        self.assertEqual(self.receive(len(sent)), sent)
        report = self.link_report(process)
        self.assertEqual(report["up"]["delivered_packets"], 30)
        self.assertEqual(report["up"]["offered_bytes"],
                         sum(map(len, sent)) + 30 * HEADERS)
        self.assertEqual(report["down"]["offered_packets"], 0)

    def test_a_train_arrives_as_single_datagrams(self):
        process, port = self.relay("--delay", "1ms")
        client = self.client(port)
        try:
            client.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
        except OSError:
            self.skipTest("this system has no UDP_SEGMENT")
        sent = [os.urandom(1000) for _ in range(9)] + [os.urandom(300)]
        client.send(b"".join(sent))
        self.assertEqual(self.receive(10), sent)
        report = self.link_report(process)
        self.assertEqual(report["up"]["offered_packets"], 10)
        self.assertEqual(report["pairs"][0]["up"]["packets_in"], 10)

    def test_every_client_gets_its_own_answers(self):
        process, port = self.relay()
        clients = [self.client(port) for _ in range(5)]
        for i, client in enumerate(clients):
            client.send(b"%d" % i)
        for _ in clients:
            data, address = self.target.recvfrom(100)
            self.target.sendto(b"answer " + data, address)
        for i, client in enumerate(clients):
            self.assertEqual(client.recv(100), b"answer %d" % i)
        self.assertEqual(self.link_report(process)["clients"], 5)

    def test_clients_beyond_the_limit_are_not_served(self):
        process, port = self.relay("--max-clients", "1")
        self.client(port).send(b"one")
        self.receive(1)
        self.client(port).send(b"two")
        self.client(port).send(b"three")
        report = self.settled(process, 1)
        self.assertEqual(report["refused_packets"], 2)
        self.assertEqual(report["clients"], 1)

    def test_each_direction_follows_its_own_trace(self):
        up, down = self.folder / "up.trace", self.folder / "down.trace"
        up.write_text("".join(f"{ms}\n" for ms in range(10, 1001, 10)))
        down.write_text("1\n")
        process, port = self.relay("--up", f"trace={up},queue=60kB", "--down",
                                   f"trace={down},delay=5ms")
        client = self.client(port)
        for _ in range(30):
            client.send(bytes(1500 - HEADERS))
        self.receive(29)
        _, address = self.target.recvfrom(2000)
        self.target.sendto(bytes(100), address)
        client.recv(2000)
        report = self.link_report(process)
        # 30 whole packets need 30 opportunities, 29 intervals of 10 ms.
        self.assertLessEqual(report["up"]["delivered_bps"], 1.21e6)
        self.assertEqual(report["up"]["rate_bps"], 1.2e6)
        self.assertGreaterEqual(report["up"]["opportunity_bytes"], 30 * 1500)
        self.assertEqual(report["down"]["rate_bps"], 12e6)
        self.assertEqual(report["down"]["delivered_packets"], 1)

    def test_losses_on_the_return_path_are_harmless(self):
        process, port = self.relay("--up", "rate=4mbit,codel=on,fq=on,ecn=on",
                                   "--down", "loss=100%")
        client = self.client(port)
        client.send(b"x")
        _, address = self.target.recvfrom(10)
        for _ in range(5):
            self.target.sendto(b"ack", address)
        report = self.link_report(process)
        self.assertEqual(report["down"]["offered_packets"], 5)
        self.assertEqual(report["down"]["dropped"]["loss"], 5)
        self.assertEqual(report["up"]["dropped"]["loss"], 0)

    def test_the_rate_holds_to_the_bit(self):
        # Slow enough that all are there before the first has left, however
        # busy the machine is; so it is in the tests of queues below.
        process, port = self.relay("--rate", "200kbit", "--queue", "1MB")
        client = self.client(port)
        for _ in range(40):
            client.send(bytes(1000))
        self.receive(40)
        up = self.link_report(process)["up"]
        # 39 transmissions lie between the first and the last arrival, on the
        # link's own clock.
        self.assertAlmostEqual(up["delivered_bps"], 2e5, delta=2e5 * 1e-3)
        self.assertGreater(up["transit"]["max_ms"], 300)

    def test_a_full_queue_drops_the_newest(self):
        process, port = self.relay("--rate", "1kbit", "--queue", "3p")
        client = self.client(port)
        for i in range(10):
            client.send(b"%d" % i)
        # 29 bytes take 232 ms; one is being sent, three wait.
        self.assertEqual(self.receive(4), [b"0", b"1", b"2", b"3"])
        up = self.link_report(process)["up"]
        self.assertEqual(up["dropped"]["queue"], 6)
        self.assertEqual(up["queue_peak_packets"], 3)

    def test_equal_seeds_lose_equal_packets(self):
        lost = []
        for seed in (7, 7, 8):
            process, port = self.relay("--loss", "50%", "--seed", seed)
            client = self.client(port)
            # The last one must be seen to know that the others were.
            received = []
            for i in range(64):
                client.send(b"%d" % i)
            report = self.settled(process, 64)
            while len(received) < report["up"]["delivered_packets"]:
                received.append(self.target.recv(100))
            self.assertEqual(report["up"]["dropped"]["loss"],
                             64 - len(received))
            lost.append(received)
        self.assertEqual(lost[0], lost[1])
        self.assertNotEqual(lost[0], lost[2])

    def settled(self, process, offered):
        """Ends linkem once it has seen so many packets: it reads what came
        before it looks at signals again."""
        report = self.link_report(process)
        self.assertEqual(report["up"]["offered_packets"], offered)
        return report

    def test_everything_can_be_duplicated_or_corrupted(self):
        process, port = self.relay("--up", "duplicate=100%,corrupt=100%")
        self.client(port).send(bytes(100))
        first, second = self.receive(2)
        ones = sum(bin(byte).count("1") for byte in first + second)
        self.assertEqual(len(first), 100)
        self.assertEqual(ones, 1)  # the copy is made before a bit is turned
        self.assertEqual(self.link_report(process)["up"]["corrupted"], 1)

    def test_directions_differ(self):
        process, port = self.relay("--up", "loss=100%", "--down", "rate=1mbit")
        self.client(port).send(b"x")
        report = self.link_report(process)
        self.assertEqual(report["up"]["rate_bps"], 0)
        self.assertEqual(report["down"]["rate_bps"], 1e6)

    def test_large_packets_vanish_beyond_the_mtu(self):
        process, port = self.relay("--mtu", "1000")
        client = self.client(port)
        client.send(bytes(973))
        client.send(bytes(972))
        self.assertEqual(len(self.receive(1)[0]), 972)
        self.assertEqual(self.link_report(process)["up"]["dropped"]["mtu"], 1)

    def test_changes_come_into_force_at_their_time(self):
        process, port = self.relay("--at", "0s", "up:carrier=off",
                                   "--at", "60min,loss=1%")
        client = self.client(port)
        client.send(b"x")
        report = self.settled(process, 1)
        self.assertEqual(report["up"]["dropped"]["blackout"], 1)
        self.assertEqual(report["up"]["delivered_packets"], 0)

    def test_ecn_passes_and_the_queue_can_mark(self):
        process, port = self.relay("--rate", "5kbit", "--queue", "1MB",
                                   "--mark", "1")
        self.target.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        client = self.client(port)
        client.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
        for _ in range(3):
            client.send(bytes(100))
        codepoints = []
        for _ in range(3):
            _, control, _, _ = self.target.recvmsg(2000, 100)
            codepoints += [data[0] & 3 for _, kind, data in control
                           if kind == socket.IP_TOS]
        # The third finds the second waiting.
        self.assertEqual(codepoints, [2, 2, 3])
        self.assertEqual(self.link_report(process)["up"]["marked"], 1)

    def test_pairs_share_one_bottleneck(self):
        other = toolbox.udp_socket()
        self.addCleanup(other.close)
        process, ports = self.linkem(
            "--rate", "100kbit", "--queue", "1MB", "--share",
            f"127.0.0.1:0={self.to_target}", "--share",
            f"127.0.0.1:0=127.0.0.1:{other.getsockname()[1]}")
        clients = [self.client(port) for port in ports]
        for _ in range(20):
            for client in clients:
                client.send(bytes(500))
        for _ in range(20):
            self.target.recv(1000)
            other.recv(1000)
        report = self.link_report(process)
        self.assertAlmostEqual(report["up"]["delivered_bps"], 1e5, delta=1e3)
        self.assertEqual([p["up"]["packets_out"] for p in report["pairs"]],
                         [20, 20])

    def test_it_ends_by_itself_and_on_both_signals(self):
        process, _ = self.relay("--duration", "10ms")
        self.assertEqual(self.finish(process)[0], 0)
        for number in (signal.SIGINT, signal.SIGTERM):
            process, _ = self.relay()
            self.link_report(process, number)

    def test_the_log_has_a_line_per_direction_and_interval(self):
        log = self.folder / "log.csv"
        process, _ = self.relay("--log", log, "--log-interval", "10ms",
                                "--duration", "1s")
        self.assertEqual(self.finish(process)[0], 0)
        lines = log.read_text(encoding="ascii").splitlines()
        self.assertTrue(lines[0].startswith("seconds,direction,"))
        self.assertGreaterEqual(len(lines), 5)
        self.assertEqual({len(line.split(",")) for line in lines}, {9})


class Tun(toolbox.Folder):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
            self.skipTest("needs root and /dev/net/tun")
        toolbox.need("ip")

    def test_tcp_passes_between_namespaces_and_they_go_away(self):
        names = [f"perigee-test-{os.getpid()}-{end}" for end in "ab"]
        file = self.folder / "addresses"
        process = self.start(
            "linkem", "-q", "--json", self.folder / "link.json", "--port-file",
            file, "--rate", "8mbit", "--delay", "1ms", "--tun",
            ",".join(names))
        self.assertEqual(self.address(process, file),
                         ["10.77.0.1", "10.77.0.2"])
        listen = ("import socket; s=socket.create_server(('10.77.0.2', 5001));"
                  "print('ready', flush=True); c=s.accept()[0]; n=0\n"
                  "while d:=c.recv(65536): n+=len(d)\n"
                  "print(n)")
        connect = ("import socket;"
                   "s=socket.create_connection(('10.77.0.2', 5001));"
                   "s.sendall(bytes(200000))")
        server = subprocess.Popen(
            ["ip", "netns", "exec", names[1], "python3", "-c", listen],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end, server)
        self.assertEqual(server.stdout.readline(), "ready\n")
        subprocess.run(["ip", "netns", "exec", names[0], "python3", "-c",
                        connect], check=True, timeout=toolbox.PATIENCE)
        out, _ = server.communicate(timeout=toolbox.PATIENCE)
        self.assertEqual(out, "200000\n")
        report = self.link_report(process)
        self.assertGreater(report["up"]["delivered_bytes"], 200000)
        self.assertGreater(report["down"]["delivered_packets"], 10)
        left = subprocess.run(["ip", "netns", "list"], text=True, check=True,
                              capture_output=True).stdout
        self.assertNotIn(names[0], left)


if __name__ == "__main__":
    unittest.main()
