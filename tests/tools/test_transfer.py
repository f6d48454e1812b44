# SPDX-License-Identifier: MPL-2.0
"""tltcp-send to tltcp-recv, directly and over emulated links."""
import concurrent.futures
import ctypes
import fnmatch
import os
import pathlib
import re
import shutil
import signal
import tempfile
import time
import unittest

import clips
import toolbox

CREATE_RULESET = 444  # of Landlock


def landlock():
    """Its version, or 0."""
    return max(0, ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, 1))


TYPES = {"I", "P", "B", "audio", "other"}


class Transfer(toolbox.Folder):
    clips = None

    @classmethod
    def setUpClass(cls):
        cls.clips = pathlib.Path(tempfile.mkdtemp())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.clips)

    def clip(self, name, seconds=2):
        return clips.make(self.clips, name, seconds)

    def receiver(self, output, *arguments, keys=""):
        file = self.folder / "port"
        file.unlink(missing_ok=True)
        process = self.start("tltcp-recv", "-q", "--json", self.folder /
                             "recv.json", "--port-file", file, *arguments,
                             "tltcp://127.0.0.1:0" + keys,
                             self.folder / output)
        return process, self.address(process, file)[0]

    def send(self, clip, address, *arguments):
        return toolbox.run("tltcp-send", "-q", "--json", self.folder /
                           "send.json", *arguments, clip, f"tltcp://{address}")

    def transfer(self, clip, output, *send_options, link=()):
        receiver, address = self.receiver(output, "--once")
        relay = None
        if link:
            relay, ports = self.linkem(*link, "127.0.0.1:0", address)
            address = f"127.0.0.1:{ports[0]}"
        done = self.send(clip, address, *send_options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.finish(receiver), (0, ""))
        if relay:
            self.link_report(relay)
        return self.json("send.json"), self.json("recv.json")

    def check_reports(self, sent, received):
        """Invariants between the two reports, for any loss."""
        for counts in (sent["sections"], *sent["frames"].values()):
            self.assertEqual(counts["offered"], counts["delivered"] +
                             counts["partial"] + counts["expired"])
        self.assertEqual(set(sent["frames"]), TYPES)
        self.assertEqual(set(received["frames"]), TYPES)
        for kind, counts in received["frames"].items():
            self.assertEqual(counts["decodable"],
                             counts["on_time"] + counts["late"])
            self.assertLessEqual(counts["decodable"], counts["received"])
            self.assertLessEqual(sent["frames"][kind]["delivered"],
                                 counts["received"])
            self.assertLessEqual(counts["received"] + counts["cut"],
                                 sent["frames"][kind]["offered"])
        self.assertEqual(sent["bytes"]["offered"],
                         sent["bytes"]["delivered"] + sent["bytes"]["expired"])

    def check_equal(self, clip, output, kinds):
        for kind in kinds:
            want = clips.digests(clip, kind)
            got = clips.digests(self.folder / output, kind)
            self.assertTrue(want)
            if kind == "a":
                # Silence that a container told players to skip may be heard.
                self.assertLessEqual(len(got), len(want) + 1)
                got = got[-len(want):]
            self.assertEqual(got, want)

    def test_a_failed_call_keeps_no_caller_out(self):
        clip = self.clip("h264-aac.ts")
        receiver, address = self.receiver("out.ts", "--once")
        self.call_in_vain(address, "tltcp-send", clip)
        done = self.send(clip, address, "--latency", "5000")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.finish(receiver), (0, ""))

    def test_who_calls_in_the_same_moment_as_another_hears_busy(self):
        clip = self.clip("h264-aac.ts")
        receiver, address = self.receiver("out.ts")
        self.check_one_is_busy(receiver, "tltcp-send", "-q", clip,
                               f"tltcp://{address}")

    def test_every_kind_of_file_arrives_frame_by_frame(self):
        for name, output, kinds in (
                ("h264-aac.mp4", "out.mp4", "va"),
                ("h264-aac.mp4", "out.ts", "v"),
                ("h264-aac.ts", "out.mkv", "va"),
                ("h264-aac.ts", "out.mp4", "v"),
                ("mpeg2-mp2.ts", "out.ts", "va"),
                ("mpeg1.mpg", "out.mkv", "v"),
                ("mpeg1.m1v", "out.m1v", "v"),
                ("raw.h264", "out.h264", "v"),
                ("raw.h264", "out.mkv", "v"),
                ("hevc.mkv", "out.mp4", "v"),
                ("hevc.mp4", "out.mkv", "v"),
                ("hevc.ts", "out.mkv", "v"),
                ("mpeg4.mp4", "out.mp4", "v"),
                ("mpeg2.mxf", "out.mkv", "va"),
                ("theora.ogv", "out.ogv", "v"),
                ("opus.ogg", "out.ogg", "a"),
                ("adpcm.wav", "out.wav", "a"),
                ("wma.asf", "out.asf", "a"),
                ("raw.avi", "out.avi", "v"),
                ("h264.flv", "out.mkv", "v"),
                ("h264.mkv", "out.ts", "v"),
                ("vp8.webm", "out.webm", "v"),
                ("vp9.webm", "out.mkv", "v"),
                ("av1.mkv", "out.mp4", "v"),
                ("sound.m4a", "out.m4a", "a")):
            with self.subTest(name=name, output=output):
                clip = self.clip(name)
                sent, received = self.transfer(clip, output, "--speed", 0)
                self.check_reports(sent, received)
                self.check_equal(clip, output, kinds)
                self.check_types(clip, received)
                self.assertEqual(received["gaps"], 0)
                self.assertEqual(sent["bytes"]["delivered"],
                                 sent["bytes"]["offered"])

    def check_types(self, clip, received):
        """Each picture is what a decoder says that it is."""
        counts = {t: received["frames"][t]["received"] for t in "IPB"}
        if clip.name not in ("theora.ogv", "raw.avi"):  # of no known type
            want = clips.types(clip)
            self.assertEqual(counts, {t: want[t] for t in "IPB"})

    def test_references_without_display_times_get_some(self):
        # How many B pictures precede the first P cannot be known before they
        # come, so one picture may share its time with another and be hidden.
        clip = self.clip("mpeg4.avi")
        _, received = self.transfer(clip, "out.mkv", "--speed", 0)
        self.assertEqual(sum(received["frames"][t]["received"]
                             for t in "IPB"), 50)
        want = clips.digests(clip, "v")
        got = clips.digests(self.folder / "out.mkv", "v")
        self.assertGreaterEqual(len(got), len(want) - 1)
        self.assertEqual(got, [d for d in want if d in got])

    def test_reports_have_all_fields_of_the_contract(self):
        sent, received = self.transfer(self.clip("h264-aac.mp4"), "out.mp4",
                                       "--speed", 0)
        self.assertLessEqual(
            {"sections", "bytes", "frames", "srtt_ms", "min_rtt_ms",
             "loss_rate", "cwnd_bytes", "goodput_bps", "estimated_bps",
             "congestion", "recovery", "seconds"}, set(sent))
        self.assertEqual(set(sent["bytes"]), {"offered", "delivered",
                                              "expired", "sent",
                                              "retransmitted"})
        self.assertEqual(sent["recovery"], "packet")
        self.assertLessEqual({"bytes", "gaps", "gap_bytes", "sections",
                              "frames", "goodput_bps", "seconds"},
                             set(received))
        self.assertEqual(set(received["sections"]), {"complete", "cut"})
        # 2 s at 25 pictures a second with a key frame every 25.
        self.assertEqual(received["frames"]["I"]["received"], 2)
        self.assertEqual(sum(received["frames"][t]["received"]
                             for t in "IPB"), 50)
        self.assertGreater(received["frames"]["audio"]["received"], 90)

    def test_without_deadlines_a_bad_link_loses_nothing(self):
        clip = self.clip("h264-aac.mp4")
        sent, received = self.transfer(
            clip, "out.mp4", "--speed", 0,
            link=("--rate", "8mbit", "--delay", "5ms", "--both",
                  "loss=3%,duplicate=1%,corrupt=1%,reorder=2%:3ms"))
        self.check_reports(sent, received)
        self.check_equal(clip, "out.mp4", "va")
        self.assertGreater(sent["bytes"]["retransmitted"], 0)

    def test_repair_packets_replace_lost_ones_when_asked_for(self):
        clip = self.clip("h264-aac.mp4")
        link = ("--rate", "8mbit", "--delay", "5ms", "--both", "loss=3%")
        for when, some in (("on", True), ("off", False)):
            with self.subTest(fec=when):
                sent, received = self.transfer(
                    clip, "out.mp4", "--speed", 0, "--fec", when, link=link)
                self.check_equal(clip, "out.mp4", "va")
                self.assertEqual(sent["repair_bytes_sent"] > 0, some)
                self.assertEqual(received["bytes_rebuilt"] > 0, some)

    def test_tcp_carries_a_stream_where_udp_is_not_answered(self):
        clip = self.clip("h264-aac.mp4")
        for listener, caller in (("tcp", "tcp"), ("tcp", "auto")):
            with self.subTest(listener=listener, caller=caller):
                receiver, address = self.receiver(
                    "out.mp4", "--once", keys="?transport=" + listener)
                done = self.send(clip, f"{address}?transport={caller}",
                                 "--speed", 0)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(self.finish(receiver), (0, ""))
                self.assertEqual(self.json("send.json")["transport"], "tcp")
                self.check_equal(clip, "out.mp4", "va")

    def test_live_over_a_link_that_is_too_small_thins_out(self):
        clip = self.clip("h264-aac.ts")
        sent, received = self.transfer(
            clip, "out.mkv", "--latency", "200",
            link=("--rate", "200kbit", "--delay", "10ms"))
        self.check_reports(sent, received)
        whole = sent["sections"]
        self.assertGreater(whole["expired"], 0)
        self.assertGreater(whole["delivered"], 2)
        self.assertTrue(clips.decodes(self.folder / "out.mkv"))

    def test_deadline_modes_policies_and_recoveries_all_deliver(self):
        clip = self.clip("raw.h264")
        for options in (["--deadline-mode", "gop"],
                        ["--drop-policy", "section"],
                        ["--drop-policy", "until-keyframe"],
                        ["--recovery", "dupack"], ["--congestion", "reno"],
                        ["--speed", "4", "--loop", "2"]):
            with self.subTest(options=options):
                sent, received = self.transfer(clip, "out.h264", "--latency",
                                               "10s", *options)
                self.check_reports(sent, received)
                frames = 100 if "--loop" in options else 50
                self.assertEqual(sum(f["decodable"] for f in
                                     received["frames"].values()), frames)

    def test_controllers_of_every_kind_carry_a_film(self):
        clip = self.clip("raw.h264")
        # rates, reports of the receiver, dummies, nothing new while it repairs
        for name in ("bbr", "tfrc", "peach", "yam"):
            with self.subTest(name=name):
                sent, received = self.transfer(clip, "out.h264", "--speed", 0,
                                               "--congestion", name)
                self.check_reports(sent, received)
                self.assertEqual(sent["congestion"], name)
                self.assertEqual(received["gaps"], 0)

    def test_frame_logs_contain_every_frame(self):
        clip = self.clip("raw.h264")
        log = self.folder / "frames.csv"
        sent, _ = self.transfer(clip, "out.h264", "--speed", 0, "--frames",
                                log)
        lines = log.read_text(encoding="ascii").splitlines()
        self.assertEqual(len(lines), 51)
        self.assertEqual(sum(",delivered," in line for line in lines), 50)
        self.assertEqual(sent["sections"]["offered"], 52)  # CONFIG, end

    def test_a_film_that_ends_in_the_middle_is_sent_so_far_and_named(self):
        toolbox.need("ffmpeg")
        clip = self.folder / "half.mp4"
        whole = self.clip("h264-aac.mp4")
        clips.subprocess.run(
            ["ffmpeg", "-v", "error", "-i", whole, "-c", "copy", "-movflags",
             "faststart", clip], check=True, stdin=clips.subprocess.DEVNULL)
        os.truncate(clip, clip.stat().st_size // 2)
        receiver, address = self.receiver("out.mkv", "--once")
        done = self.send(clip, address, "--speed", 0)
        self.assertEqual(done.returncode, 1)
        self.assertIn("half.mp4: ends in the middle", done.stderr)
        self.finish(receiver)
        self.assertGreater(self.json("recv.json")["frames"]["I"]["received"],
                           0)
        self.assertTrue(clips.decodes(self.folder / "out.mkv"))

    def test_recv_says_that_it_left_out_a_stream_without_headers(self):
        clip = self.folder / "bare.ts"
        film = self.clip("h264-aac.ts").read_bytes()
        for header in b"\x67", b"\x68":  # SPS, PPS: filler instead
            self.assertIn(b"\0\0\1" + header, film)
            film = film.replace(b"\0\0\1" + header, b"\0\0\1\x6c")
        clip.write_bytes(film)
        port = self.folder / "port"
        receiver = self.start("tltcp-recv", "--once", "--port-file", port,
                              "tltcp://127.0.0.1:0", self.folder / "out.mkv")
        done = self.send(clip, self.address(receiver, port)[0], "--speed", 0)
        self.assertEqual(done.returncode, 0, done.stderr)
        status, said = self.finish(receiver)
        self.assertEqual(status, 0, said)
        self.assertIn("left out: 1 stream not fully described in time", said)
        self.assertTrue(clips.decodes(self.folder / "out.mkv"))

    def test_a_second_caller_gets_a_file_of_its_own(self):
        clip = self.clip("raw.h264")
        receiver, address = self.receiver("out.ts")
        for _ in range(2):
            done = self.send(clip, address, "--speed", 0)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        # The file is complete when the next caller is let in.
        done = self.send(clip, address, "--speed", 0)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.finish(receiver, signal.SIGTERM)
        self.check_equal(clip, "out.ts", "v")
        self.check_equal(clip, "out-2.ts", "v")

    def test_a_request_for_another_stream_is_rejected_with_a_reason(self):
        receiver, address = self.receiver("out.ts", "--once",
                                          keys="?streamid=cam1")
        done = self.send(self.clip("raw.h264"), address + "?streamid=cam2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no stream of that name", done.stderr)
        done = self.send(self.clip("raw.h264"), address + "?streamid=cam1",
                         "--speed", 0)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.finish(receiver)[0], 0)

    def test_a_container_that_cannot_hold_the_stream_is_named(self):
        receiver, address = self.receiver("out.wav", "--once")
        self.send(self.clip("raw.h264"), address, "--speed", 0)
        status, errors = self.finish(receiver)
        self.assertEqual(status, 1)
        self.assertIn("cannot hold h264", errors)
        self.assertEqual(len(errors.splitlines()), 1)

    def test_a_transport_stream_is_not_filled_with_what_nobody_can_read(self):
        receiver, address = self.receiver("out.ts", "--once")
        done = self.send(self.clip("vp8.webm"), address, "--speed", 0)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the container mpegts cannot hold vp8", done.stderr)
        status, errors = self.finish(receiver)
        self.assertEqual(status, 1)
        self.assertIn("the container mpegts cannot hold vp8", errors)

    def test_a_container_for_other_streams_says_what_it_takes(self):
        receiver, address = self.receiver("out.mxf", "--once")
        self.send(self.clip("sound.m4a"), address, "--speed", 0)
        status, errors = self.finish(receiver)
        self.assertEqual(status, 1)
        self.assertIn("exactly one video stream", errors)

    def test_streams_that_are_not_sent_are_named(self):
        for name, left_out in (("subtitles.mkv", "subrip (subtitle)"),
                               ("raw.h264", "")):
            clip = self.clip(name)
            receiver, address = self.receiver("out.mkv", "--once")
            done = toolbox.run("tltcp-send", "--speed", 0, clip,
                               f"tltcp://{address}")
            self.assertEqual(done.returncode, 0)
            said = f"tltcp-send: {clip}: left out: {left_out}\n"
            self.assertEqual(done.stderr, said if left_out else "")
            self.assertEqual(self.finish(receiver), (0, ""))

    def test_flac_is_kept_in_mp4(self):
        clip = self.clip("sound.flac")
        self.transfer(clip, "out.mp4", "--speed", 0)
        self.check_equal(clip, "out.mp4", "a")

    def test_a_transport_stream_is_refused_with_the_tool_that_takes_it(self):
        clip = self.clip("h264-aac.ts")
        receiver, address = self.receiver("out.mp4", "--once")
        toolbox.run("tltcp-live-transmit", "-q", "-a", "no", clip,
                    f"tltcp://{address}")
        status, errors = self.finish(receiver)
        self.assertEqual(status, 1)
        self.assertIn("transport stream", errors)
        self.assertIn("tltcp-live-transmit", errors)

    def test_a_sender_hears_that_the_receivers_disk_is_full(self):
        """Even if that shows only at the end, as the film is so short that the
        receiver writes nothing before."""
        for seconds in 0.2, 60:
            output = self.folder / "full.mkv"
            output.unlink(missing_ok=True)
            output.symlink_to("/dev/full")
            receiver, address = self.receiver("full.mkv", "--once")
            (self.folder / "raw.h264").unlink(missing_ok=True)
            clip = clips.make(self.folder, "raw.h264", seconds)
            done = self.send(clip, address, "--speed", 0)
            self.assertEqual(done.returncode, 1, seconds)
            self.assertIn("the receiver's file: cannot be ", done.stderr)
            self.assertIn("No space left on device", done.stderr)
            self.assertEqual(self.finish(receiver)[0], 1)

    def test_a_file_that_was_removed_meanwhile_is_a_failure(self):
        receiver, address = self.receiver("out.ts", "--once")
        (self.folder / "out.ts").unlink(missing_ok=True)
        sender = self.start("tltcp-send", "-q", self.clip("raw.h264"),
                            f"tltcp://{address}")
        while not (self.folder / "out.ts").exists():
            time.sleep(0.01)
        (self.folder / "out.ts").unlink()
        for process in sender, receiver:
            status, errors = self.finish(process)
            self.assertEqual(status, 1)
            self.assertIn("was removed while it was written", errors)

    def to_standard_output(self):
        file = self.folder / "port"
        receiver = toolbox.subprocess.Popen(
            [toolbox.TOOLS / "tltcp-recv", "-q", "--once", "--format", "nut",
             "--port-file", file, "tltcp://127.0.0.1:0", "-"],
            stdout=toolbox.subprocess.PIPE, stderr=toolbox.subprocess.PIPE)
        self.addCleanup(self.end, receiver)
        return receiver, self.address(receiver, file)[0]

    def test_a_sender_hears_that_nobody_reads_the_receivers_output(self):
        receiver, address = self.to_standard_output()
        receiver.stdout.close()
        done = self.send(self.clip("raw.h264"), address, "--speed", 0)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Broken pipe", done.stderr)
        self.assertEqual(receiver.wait(toolbox.PATIENCE), 1)
        receiver.stdout = None

    def test_standard_output_takes_the_stream(self):
        clip = self.clip("raw.h264")
        receiver, address = self.to_standard_output()
        done = self.send(clip, address, "--speed", 0)
        self.assertEqual(done.returncode, 0, done.stderr)
        out, _ = receiver.communicate(timeout=toolbox.PATIENCE)
        (self.folder / "out.nut").write_bytes(out)
        self.check_equal(clip, "out.nut", "v")

    def test_an_interrupted_receiver_leaves_a_whole_file(self):
        receiver, address = self.receiver("out.mp4")
        done = self.send(self.clip("raw.h264"), address, "--speed", 0)
        self.assertEqual(done.returncode, 0)
        status, errors = self.finish(receiver, signal.SIGINT)
        self.assertEqual((status, errors), (0, ""))
        self.check_equal(self.clip("raw.h264"), "out.mp4", "v")

    def test_a_terminal_is_left_with_a_summary(self):
        file = self.folder / "port"
        output = self.folder / "out.mp4"
        clip = self.clip("raw.h264")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            receiver = pool.submit(
                toolbox.run_on_terminal, "tltcp-recv", "--once", "--port-file",
                file, "--json", self.folder / "recv.json",
                "tltcp://127.0.0.1:0", output)
            while not file.exists() or "\n" not in file.read_text("ascii"):
                self.assertFalse(receiver.done())
                time.sleep(0.01)
            sent = toolbox.run_on_terminal("tltcp-send", "--speed", 0, clip,
                                           "tltcp://" + file.read_text().strip())
            received = receiver.result(toolbox.PATIENCE)
        n = sum(k["received"] for k in self.json("recv.json")["frames"].values())
        for (status, seen), line in (
                (sent, f"tltcp-send: {clip}: 2.0 s, 0.* MB, "
                       f"{n} of {n} frames arrived"),
                (received, f"tltcp-recv: {output}: 2.0 s, 0.* MB, "
                           f"{n} of {n} received frames decodable")):
            self.assertEqual(status, 0)
            last = seen.decode().rstrip().rsplit("\r", 1)[-1]
            self.assertTrue(fnmatch.fnmatch(last, line), last)

    def test_a_playlist_reads_nothing_outside_its_folder(self):
        if not landlock():
            self.skipTest("this kernel has no Landlock")
        for folder in "inside", "outside":
            (self.folder / folder).mkdir()
            shutil.copy(self.clip("h264-aac.ts"), self.folder / folder / "a.ts")
        for part, status in (("a.ts", 0),
                             (self.folder / "inside/a.ts", 0),
                             (self.folder / "outside/a.ts", 1)):
            playlist = self.folder / "inside/list.m3u8"
            playlist.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:2\n"
                                f"#EXTINF:2,\n{part}\n#EXT-X-ENDLIST\n",
                                encoding="ascii")
            receiver, address = self.receiver("out.nut")
            done = self.send(playlist, address, "--speed", 0)
            self.assertEqual(done.returncode, status, (part, done.stderr))
            self.assertEqual(self.finish(receiver, signal.SIGINT)[0], 0)

    def test_an_address_is_reached_over_tcp(self):
        receiver, address = self.receiver("out.nut", "--once",
                                          keys="?transport=tcp")
        done = self.send(self.clip("raw.h264"), f"{address}?transport=tcp",
                         "--speed", 0)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.finish(receiver), (0, ""))
        self.assertEqual(self.json("send.json")["transport"], "tcp")

    def test_both_ends_gain_no_privileges(self):
        receiver, address = self.receiver("out.nut")
        sender = self.start("tltcp-send", "-q", self.clip("h264-aac.ts"),
                            f"tltcp://{address}")

        def gains_none(process):
            status = pathlib.Path(f"/proc/{process.pid}/status")
            return "NoNewPrivs:\t1" in status.read_text(encoding="ascii")

        while not (gains_none(receiver) and gains_none(sender)):
            self.assertIsNone(sender.poll())
            time.sleep(0.01)

    def test_the_page_names_every_field(self):
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / \
            "reference" / "statistics.md"
        parts = re.split("^## (.*)$", page.read_text(encoding="utf-8"),
                         flags=re.M)
        said = dict(zip(parts[1::2], parts[2::2]))
        lines = {"tltcp-send": self.folder / "send.csv",
                 "tltcp-recv": self.folder / "recv.csv"}
        receiver, address = self.receiver("out.nut", "--once", "--frames",
                                          lines["tltcp-recv"])
        done = self.send(self.clip("raw.h264"), address, "--speed", 0,
                         "--frames", lines["tltcp-send"])
        self.assertEqual((done.returncode, self.finish(receiver)[0]), (0, 0))
        for tool, report in (("tltcp-send", "send.json"),
                             ("tltcp-recv", "recv.json")):
            rows = re.findall(r"^\| (`.*?) \|", said[f"`{tool} --json`"], re.M)
            named = re.findall(r"`(\w+)`", " ".join(rows))
            self.assertEqual(sorted(named), sorted(self.json(report)))
            columns = lines[tool].read_text().split("\n")[0].split(",")
            self.assertLessEqual(
                set(columns),
                set(re.findall(r"`(\w+)`", said[f"`{tool} --frames`"])))


if __name__ == "__main__":
    unittest.main()
