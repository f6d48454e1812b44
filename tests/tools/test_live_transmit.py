# SPDX-License-Identifier: MPL-2.0
"""tltcp-live-transmit: its command line, and streams through it."""
import contextlib
import fcntl
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import unittest

import clips
import test_command_lines
import toolbox

LISTEN = "tltcp://127.0.0.1:0?mode=listener"


GROUP = "239.255.77.7"
LOOPBACK = socket.inet_aton("127.0.0.1")


def group_speaker():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, LOOPBACK)
    return s


def group_member():
    """A socket that hears the group on a port of its own; skips the test where
    the loopback has no groups."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    s.bind((GROUP, 0))
    s.settimeout(5)
    try:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                     socket.inet_aton(GROUP) + LOOPBACK)
        with group_speaker() as speaker:
            speaker.sendto(b"?", s.getsockname())
        s.recv(10)
    except OSError as error:
        s.close()
        raise unittest.SkipTest(f"no groups on the loopback: {error}") \
            from error
    s.settimeout(toolbox.PATIENCE)
    return s


def with_payload(data):
    """How many packets of a transport stream carry more than a clock."""
    return sum(data[at + 3] >> 4 & 1 for at in range(0, len(data), 188))


class CommandLine(test_command_lines.Refusals):
    tool = "tltcp-live-transmit"
    url = "tltcp://127.0.0.1:9"

    def test_it_prints_help_and_version(self):
        self.tell_help_and_version()

    def test_wrong_usage_ends_with_2_and_a_sentence(self):
        self.refuse("INPUT and OUTPUT")
        self.refuse("INPUT and OUTPUT", "-")
        self.refuse("INPUT and OUTPUT", "-", self.url, "more")
        self.refuse("must be tltcp://", "udp://:1234", "-")
        self.refuse("--nonsense", "--nonsense", "-", self.url)
        self.refuse("-t needs a value", "-", self.url, "-t")
        self.refuse("seconds", "-t", "soon", "-", self.url)
        self.refuse("0 or 1", "--timeout-mode", "2", "-", self.url)
        self.refuse("yes or no", "-a", "maybe", "-", self.url)
        self.refuse("timed or immediate", "--delivery", "x", self.url, "-")
        self.refuse("65507", "-c", "70000", self.url, "udp://127.0.0.1:9")
        self.refuse("json", "-s", "1s", "--pf", "xml", "-", self.url)
        self.refuse("-pf is unknown; write --pf", "-pf", "json", "-", self.url)
        self.refuse("-chunk is unknown; write --chunk", "-chunk:1316", "-",
                    self.url)
        self.refuse("-statsout is unknown; write --statsout", "-", self.url,
                    "-statsout", "file")
        self.refuse("-x is unknown", "-x", "", self.url)
        self.refuse("above 0", "-s", "0", "-", self.url)
        self.refuse("standard output", "--json", "-", self.url, "-")

    def test_urls_are_taken_or_refused_as_a_whole(self):
        self.refuse("port", "-", "tltcp://127.0.0.1")
        self.refuse("port", "-", "tltcp://127.0.0.1:70000")
        self.refuse("mode=listener", "-", "tltcp://127.0.0.1:0")
        self.refuse("host", "-", "tltcp://:9?mode=caller")
        self.refuse("caller or listener", "-", self.url + "?mode=rendezvous")
        self.refuse("latency=0", "-", self.url + "?latency=0")
        self.refuse("1 to 86400000", self.url + "?latency=0", "-")
        self.refuse("valid keys are mode, callers, max-callers, threads, latency", "-", self.url + "?maxbw=0")
        self.refuse("adapter", "udp://:9?mode=caller", self.url)
        self.refuse("host", self.url, "udp://:9")
        self.refuse("not supported", "srt://127.0.0.1:9", self.url)
        self.refuse("path", "file://", self.url)
        self.refuse("cubic", "-", self.url + "?congestion-control=warp")

    def test_what_cannot_be_opened_is_named(self):
        self.refuse("/nonexistent/x.ts", "/nonexistent/x.ts", self.url,
                    status=1)
        self.refuse("/nonexistent/x.ts", LISTEN, "/nonexistent/x.ts", "-q",
                    status=1)
        self.refuse("no such adapter", "udp://239.1.1.1:9?adapter=nonesuch",
                    self.url, status=1)
        for option in ("--json", "--frames", "--statsout", "--port-file",
                       "--qlog"):
            self.refuse("/nonexistent/x", option, "/nonexistent/x", "-q",
                        "udp://127.0.0.1:0", LISTEN, status=1)
        with toolbox.udp_socket() as s:
            at = f"127.0.0.1:{s.getsockname()[1]}"
            self.refuse("cannot receive", f"udp://{at}", self.url, status=1)
            self.refuse("cannot listen", f"tltcp://{at}?mode=listener", "-",
                        status=1)

    def test_statistics_that_cannot_be_written_are_an_error(self):
        self.refuse("cannot write /dev/full", "-q", "-s", "20ms", "-t", "0.2",
                    "--statsout", "/dev/full", "udp://127.0.0.1:0", LISTEN,
                    status=1)

    def test_an_absent_peer_is_reported(self):
        with toolbox.udp_socket() as silent:
            url = (f"tltcp://127.0.0.1:{silent.getsockname()[1]}"
                   "?connect-timeout=200")
            self.refuse("no answer", "-a", "no", "-", url, status=1)
            self.refuse("no connection in time", "-q", "-t", "0.5",
                        "--timeout-mode", "1", "-", url, status=1)


class Streams(toolbox.Folder):
    def transmit(self, *words, name="port"):
        """Starts a tool that listens; returns it and its addresses."""
        file = self.folder / name
        file.unlink(missing_ok=True)
        process = self.start("tltcp-live-transmit", "-q", "--port-file", file,
                             *words)
        return process, self.address(process, file)

    def receiver(self, output, *words):
        process, (address,) = self.transmit(
            "-a", "no", "--json", self.folder / "received.json", *words,
            LISTEN, output, name="receiver")
        return process, address

    def multiplexed(self, clip):
        """FFmpeg's copy of a film."""
        done = subprocess.run(
            ["ffmpeg", "-v", "error", "-i", clip, "-c", "copy", "-f",
             "mpegts", "-"], check=True, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=toolbox.PATIENCE)
        return done.stdout

    def camera(self, clip, target):
        process = subprocess.Popen(
            ["ffmpeg", "-v", "error", "-re", "-i", clip, "-c", "copy", "-f",
             "mpegts", target], stdin=subprocess.DEVNULL)
        self.addCleanup(self.end, process)
        return process

    def check_equal(self, clip, output):
        for kind in "va":
            self.assertEqual(clips.digests(output, kind),
                             clips.digests(clip, kind))

    def send_file(self, clip, address, query="", status=0):
        done = toolbox.run(
            "tltcp-live-transmit", "-q", "-a", "no", "--json",
            self.folder / "sent.json", "--frames", self.folder / "sent.csv",
            clip, f"tltcp://{address}{query}")
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        return self.json("sent.json")

    def test_udp_over_a_link_to_udp(self):
        clip = clips.make(self.folder, "h264-aac.ts")
        expected = with_payload(self.multiplexed(clip))
        got = bytearray()
        with toolbox.udp_socket() as player:
            receiver, address = self.receiver(
                f"udp://127.0.0.1:{player.getsockname()[1]}", "--delivery",
                "immediate")
            relay, ports = self.linkem("--delay", "20ms", "--rate", "4mbit",
                                       "127.0.0.1:0", address)
            sender, (udp,) = self.transmit(
                "--json", self.folder / "sent.json", "udp://127.0.0.1:0",
                f"tltcp://127.0.0.1:{ports[0]}?latency=5000")
            self.camera(clip, f"udp://{udp}?pkt_size=1316")
            while with_payload(got) < expected:
                datagram = player.recv(65536)
                self.assertLessEqual(len(datagram), 1316)
                got += datagram
            self.assertEqual(self.finish(sender, signal.SIGINT), (0, ""))
            self.assertEqual(self.finish(receiver)[0], 0)
        self.link_report(relay)
        out = self.folder / "out.ts"
        out.write_bytes(got)
        self.check_equal(clip, out)
        sent = self.json("sent.json")
        self.assertEqual(sent["sections_delivered"], sent["sections_offered"])
        self.assertEqual((sent["offered_I"], sent["offered_B"]), (2, 32))
        self.assertGreater(sent["offered_audio"], 0)

    def test_groups_are_heard_and_spoken_to(self):
        clip = clips.make(self.folder, "h264-aac.ts")
        got = b""
        with group_member() as heard:
            with group_member() as other:
                port = other.getsockname()[1]  # free again
            receiver, address = self.receiver(
                f"udp://{GROUP}:{heard.getsockname()[1]}?adapter=lo&ttl=1",
                "--delivery", "immediate")
            sender, _ = self.transmit(f"udp://{GROUP}:{port}?adapter=lo",
                                      f"tltcp://{address}?latency=5000")
            self.camera(clip, f"udp://{GROUP}:{port}?pkt_size=1316"
                        "&localaddr=127.0.0.1")
            while len(got) < 20000:
                got += heard.recv(65536)
        self.assertEqual(set(got[::188]), {0x47})
        self.assertEqual(self.finish(sender, signal.SIGINT), (0, ""))
        self.assertEqual(self.finish(receiver)[0], 0)

    def test_two_programs_share_a_transport_stream(self):
        clip = clips.make(self.folder, "two-programs.ts")
        receiver, address = self.receiver(self.folder / "out.ts")
        sent = self.send_file(clip, address, "?latency=5000")
        self.assertEqual(self.finish(receiver)[0], 0)
        for kind in ("v:0", "v:1", "a"):
            self.assertEqual(clips.digests(self.folder / "out.ts", kind),
                             clips.digests(clip, kind))
        want = clips.types(clip)
        self.assertEqual({t: sent[f"offered_{t}"] for t in "IPB"},
                         {t: want[t] for t in "IPB"})

    def test_pipes_carry_a_stream_bit_by_bit(self):
        clip = clips.make(self.folder, "mpeg2-mp2.ts")
        receiver, address = self.receiver("-")
        sender = subprocess.Popen(
            [toolbox.TOOLS / "tltcp-live-transmit", "-q", "-a", "no",
             "file://con", f"tltcp://{address}?latency=5000"],
            stdin=subprocess.PIPE)
        self.addCleanup(self.end, sender)
        sender.stdin.write(self.multiplexed(clip))
        sender.stdin.close()
        out = self.folder / "out.ts"
        with receiver.stdout as pipe:
            out.write_bytes(pipe.buffer.read())
        self.assertEqual(sender.wait(toolbox.PATIENCE), 0)
        self.assertEqual(receiver.wait(toolbox.PATIENCE), 0)
        self.check_equal(clip, out)

    def test_a_pipe_that_does_not_block_is_waited_for(self):
        """Another program may have set this for the end that both have."""
        text = self.folder / "text.txt"
        text.write_bytes(b"more than a pipe holds at once\n" * 20000)
        port = self.folder / "port"
        ends = os.pipe()
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 4096)
        os.set_blocking(ends[1], False)
        # pylint: disable=consider-using-with
        receiver = subprocess.Popen(
            [toolbox.TOOLS / "tltcp-live-transmit", "-q", "-a", "no",
             "--port-file", port, LISTEN, "file://con"],
            stdout=ends[1], stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, receiver)
        os.close(ends[1])
        address, = self.address(receiver, port)
        sender = self.start("tltcp-live-transmit", "-q", "-a", "no", text,
                            f"tltcp://{address}?latency=60000")
        with os.fdopen(ends[0], "rb") as pipe:
            self.assertEqual(pipe.read(), text.read_bytes())
        self.assertEqual(self.finish(receiver), (0, ""))
        self.assertEqual(self.finish(sender), (0, ""))

    def test_on_a_link_that_is_too_small_b_pictures_give_way(self):
        clip = clips.make(self.folder, "h264-aac.ts", seconds=5)
        rate = clip.stat().st_size * 8 // 5 * 3 // 4
        receiver, address = self.receiver(self.folder / "out.ts")
        relay, ports = self.linkem("--delay", "10ms", "--rate", rate,
                                   "--queue", "10kB", "127.0.0.1:0", address)
        sent = self.send_file(clip, f"127.0.0.1:{ports[0]}", "?latency=600")
        self.assertEqual(self.finish(receiver)[0], 0)
        self.link_report(relay)
        self.assertEqual(sent["delivered_I"], sent["offered_I"])
        self.assertLess(sent["delivered_B"], sent["offered_B"])
        self.assertEqual(self.json("received.json")["bytes_out"] % 188, 0)
        self.assertTrue(clips.decodes(self.folder / "out.ts"))
        lines = (self.folder / "sent.csv").read_text().splitlines()
        self.assertEqual(len(lines) - 1, sum(
            sent[f"offered_{kind}"] for kind in
            ("I", "P", "B", "audio", "other")))

    def test_bytes_that_are_no_transport_stream_go_as_they_come(self):
        text = self.folder / "notes.txt"
        text.write_text("These are notes.\n" * 5000, encoding="ascii")
        receiver, address = self.receiver(self.folder / "out.txt")
        self.send_file(text, address, "?latency=10000")
        self.assertEqual(self.finish(receiver)[0], 0)
        self.assertEqual((self.folder / "out.txt").read_bytes(),
                         text.read_bytes())

    def test_a_listening_sender_serves_callers_one_after_the_other(self):
        clip = clips.make(self.folder, "h264-aac.ts")
        camera, (udp, address) = self.transmit(
            "--json", self.folder / "sent.json", "udp://127.0.0.1:0", LISTEN)
        for turn in range(2):
            out = self.folder / f"out{turn}.ts"
            viewer = self.start("tltcp-live-transmit", "-q", "-a", "no",
                                "--json", self.folder / "received.json",
                                f"tltcp://{address}?latency=1000", out)
            while not out.exists() or out.stat().st_size == 0:
                film = self.camera(clip, f"udp://{udp}?pkt_size=1316")
                self.assertEqual(film.wait(toolbox.PATIENCE), 0)
            self.assertEqual(self.finish(viewer, signal.SIGTERM), (0, ""))
            self.assertTrue(clips.decodes(out))
        self.assertEqual(self.finish(camera, signal.SIGINT), (0, ""))
        self.assertEqual(self.json("sent.json")["connections"], 2)

    def test_statistics_are_printed_as_asked(self):
        clip = clips.make(self.folder, "h264-aac.ts")
        for form, first in (("json", "{"), ("csv", "seconds,"), ("text", "")):
            receiver, address = self.receiver(self.folder / "out.ts")
            log = self.folder / f"stats.{form}"
            done = toolbox.run("tltcp-live-transmit", "-q", "-a", "no", "-s",
                               "200ms", "--pf", form, "--statsout", log, clip,
                               f"tltcp://{address}")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.finish(receiver)[0], 0)
            lines = log.read_text().splitlines()
            self.assertTrue(lines[0].startswith(first))
            self.assertGreater(len(lines), 2)

    def test_the_page_names_the_fields_that_there_are(self):
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / \
            "guide" / "from-srt.md"
        table = page.read_text(encoding="utf-8").split("| field |")[1]
        names = set(re.findall(r"`(\w+)`", "".join(
            line.split("|")[1] for line in table.splitlines()
            if line.startswith("| `"))))
        done = toolbox.run("tltcp-live-transmit", "-q", "-t", "0.1", "--json",
                           "-", "udp://127.0.0.1:0", LISTEN)
        there = set(json.loads(done.stdout))
        self.assertLessEqual(names, there)
        # "and so on" stands for the other types and causes
        self.assertEqual({name for name in there - names if not re.match(
            "offered_|delivered_|dropped_", name)}, {"callers"})

    def test_a_failed_call_keeps_no_caller_out(self):
        clip = clips.make(self.folder, "h264-aac.ts")
        receiver, address = self.receiver(self.folder / "out.ts")
        self.call_in_vain(address, "tltcp-live-transmit", clip)
        self.send_file(clip, address, "?latency=5000")
        self.assertEqual(self.finish(receiver)[0], 0)
        self.check_equal(clip, self.folder / "out.ts")

    def test_who_calls_in_the_same_moment_as_another_hears_busy(self):
        clip = clips.make(self.folder, "h264-aac.ts")
        receiver, address = self.receiver(self.folder / "out.ts")
        self.check_one_is_busy(receiver, "tltcp-live-transmit", "-q", "-a",
                               "no", clip, f"tltcp://{address}")

    def test_what_arrived_before_the_signal_is_sent(self):
        out = self.folder / "out.txt"
        receiver, address = self.receiver(out, "--delivery", "immediate")
        sender, (udp,) = self.transmit("udp://127.0.0.1:0",
                                       f"tltcp://{address}?latency=10000")
        host, port = udp.rsplit(":", 1)
        with toolbox.udp_socket() as camera:
            camera.connect((host, int(port)))
            while not out.exists() or out.stat().st_size == 0:
                camera.send(b"before\n" * 188)  # until there is a connection
                time.sleep(0.01)
            sender.send_signal(signal.SIGSTOP)
            for i in range(20):
                camera.send(b"last%02d\n" % i * 188)
            sender.send_signal(signal.SIGINT)
            self.assertEqual(self.finish(sender, signal.SIGCONT), (0, ""))
        self.assertEqual(self.finish(receiver)[0], 0)
        self.assertTrue(out.read_bytes().endswith(b"last19\n" * 188))

    def test_a_receiver_that_leaves_is_not_called_an_abort(self):
        file = self.folder / "port"
        receiver = self.start("tltcp-live-transmit", "-a", "no", "--port-file",
                              file, LISTEN, self.folder / "out.txt")
        address, = self.address(receiver, file)
        sender = self.start("tltcp-live-transmit", "-a", "no",
                            "udp://127.0.0.1:0", f"tltcp://{address}")
        lines = iter(receiver.stderr.readline, "")
        self.assertTrue(any("connected with" in line for line in lines))
        self.assertEqual(self.finish(receiver, signal.SIGINT)[0], 0)
        status, errors = self.finish(sender)
        self.assertEqual(status, 1)
        self.assertIn("the peer closed the connection", errors)
        self.assertNotIn("abort", errors)

    def test_a_listener_has_the_threads_that_were_asked_for(self):
        out = self.folder / "out.txt"
        receiver, (address,) = self.transmit("-a", "no", LISTEN + "&threads=3",
                                             out)
        tasks = pathlib.Path(f"/proc/{receiver.pid}/task").iterdir()
        names = [(task / "comm").read_text().strip() for task in tasks]
        self.assertEqual(names.count("tltcp-io"), 3, names)
        text = self.folder / "text.txt"
        text.write_bytes(b"carried by one of them\n" * 1000)
        self.send_file(text, address)
        self.assertEqual(self.finish(receiver), (0, ""))
        self.assertEqual(out.read_bytes(), text.read_bytes())

    def test_packets_are_marked_as_asked_for(self):
        with toolbox.udp_socket() as s:
            self.start("tltcp-live-transmit", "-q", "-",
                       f"tltcp://127.0.0.1:{s.getsockname()[1]}?dscp=34")
            self.assertEqual(toolbox.dscp_of_next(s), 34)

    def test_what_is_lost_before_it_is_read_is_told(self):
        port = self.folder / "port"
        process = self.start("tltcp-live-transmit", "--port-file", port,
                             "--json", self.folder / "sent.json",
                             "udp://127.0.0.1:0?buffer=4kB", LISTEN)
        host, udp = self.address(process, port)[0].rsplit(":", 1)
        process.send_signal(signal.SIGSTOP)
        with toolbox.udp_socket() as s:
            for _ in range(100):
                s.sendto(bytes(1316), (host, int(udp)))
        process.send_signal(signal.SIGCONT)
        for line in process.stderr:
            if "faster than they are read" in line:
                break
        self.assertEqual(self.finish(process, signal.SIGINT)[0], 0)
        self.assertIn(self.json("sent.json")["input_dropped"], range(1, 100))

    def test_statistics_may_be_taken_away_meanwhile(self):
        log = self.folder / "stats"
        process, _ = self.transmit("-s", "20ms", "--pf", "json", "--statsout",
                                   log, "udp://127.0.0.1:0", LISTEN)
        while not log.exists() or log.stat().st_size < 2000:
            time.sleep(0.01)
        os.truncate(log, 0)  # as logrotate does with copytruncate
        while log.stat().st_size == 0:
            time.sleep(0.01)
        self.assertEqual(self.finish(process, signal.SIGINT)[0], 0)
        self.assertEqual(log.read_bytes()[:1], b"{")

    def test_single_streams_are_refused_with_the_tool_that_takes_them(self):
        clip = clips.make(self.folder, "raw.h264")
        receiver, address = self.receiver(self.folder / "out.ts")
        done = toolbox.run("tltcp-send", "-q", "--speed", "0", clip,
                           f"tltcp://{address}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tltcp-recv", done.stderr)
        status, errors = self.finish(receiver)
        self.assertEqual(status, 1)
        self.assertIn("tltcp-recv", errors)
        self.assertIn("mpegtsmux", errors)

    def test_a_sender_hears_that_the_receivers_file_failed(self):
        """Even if that shows only after the latency, for which the receiver
        holds the stream: the tables at its start still have room."""
        clip = clips.make(self.folder, "h264-aac.ts", seconds=0.5)
        port = self.folder / "port"
        receiver = self.start(
            "/usr/bin/prlimit", "--fsize=1000",
            toolbox.TOOLS / "tltcp-live-transmit", "-q", "-a", "no",
            "--port-file", port, LISTEN, self.folder / "out.ts",
            restore_signals=False)  # Python ignores SIGXFSZ
        address, = self.address(receiver, port)
        done = toolbox.run("tltcp-live-transmit", "-q", clip,
                           f"tltcp://{address}?latency=3000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the receiver's output: File too large", done.stderr)
        self.assertEqual(self.finish(receiver)[0], 1)

    def test_a_connection_stays_until_its_stream_is_written(self):
        """With -a, too, but not when another caller comes meanwhile."""
        clip = clips.make(self.folder, "h264-aac.ts", seconds=0.5)
        out = self.folder / "out.ts"
        receiver, (address,) = self.transmit(LISTEN, out)
        self.send_file(clip, address, "?latency=1000")
        self.check_equal(clip, out)
        packets = with_payload(out.read_bytes())
        self.send_file(clip, address, "?latency=1000")
        self.assertEqual(with_payload(out.read_bytes()), 2 * packets)
        senders = [self.start("tltcp-live-transmit", "-q", clip,
                              f"tltcp://{address}?latency=86400000")
                   for _ in range(2)]
        end = time.monotonic() + toolbox.PATIENCE
        while all(sender.poll() is None for sender in senders):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        self.assertIn(0, [sender.returncode for sender in senders])
        self.assertEqual(self.finish(receiver, signal.SIGINT)[0], 0)

    def test_it_ends_in_time(self):
        sender, _ = self.transmit("-t", "0.2", "udp://127.0.0.1:0", LISTEN)
        self.assertEqual(self.finish(sender), (0, ""))


if __name__ == "__main__":
    unittest.main()
