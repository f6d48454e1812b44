# SPDX-License-Identifier: MPL-2.0
"""saratoga by its command line: streams from and into pipes."""
import os
import signal
import subprocess
import unittest

import pcap
import saratogabox
import toolbox


class Streams(saratogabox.Node):
    def pipe(self, data, *arguments):
        done = subprocess.run(
            [toolbox.TOOLS / "saratoga", *map(str, arguments)], input=data,
            capture_output=True, timeout=toolbox.PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def test_pipes_are_ends_of_transfers(self):
        self.serve("--write", "--rate", "100mbit")
        data = saratogabox.content(3000000)
        self.pipe(data, "put", "--rate", "100mbit", "-", self.url("s/log"))
        self.assertEqual((self.here / "s/log").read_bytes(), data)
        self.assertEqual(self.pipe(b"", "get", self.url("s/log"), "-"), data)
        self.pipe(b"", "put", "-", self.url("empty"))
        self.assertEqual((self.here / "empty").read_bytes(), b"")
        self.run_bad("must name a file", "put", "-", self.url("x/"), status=1)
        self.run_bad("not found", "get", self.url("none"), "-")

    def test_output_that_is_full_is_reported_with_the_cause(self):
        self.serve("--rate", "100mbit")
        (self.here / "f").write_bytes(b"x" * 100)
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [toolbox.TOOLS / "saratoga", "get", self.url("f"), "-"],
                stdout=full, stderr=subprocess.PIPE, text=True,
                timeout=toolbox.PATIENCE, check=False)
        self.assertEqual(
            (done.returncode, done.stderr),
            (1, "saratoga: cannot write to standard output: "
                "No space left on device\n"))
        file = self.there / "file"
        file.touch()
        self.run_bad(f"{file / 'x'}: the folder cannot be created: "
                     "Not a directory", "get", "-r", self.url(), file / "x")

    def test_a_stream_arrives_as_it_is_written(self):
        self.serve("--write")
        data = saratogabox.content(60000)
        # pylint: disable=consider-using-with
        put = subprocess.Popen(
            [toolbox.TOOLS / "saratoga", "put", "-", self.url("log")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.addCleanup(self.end, put)
        for at in range(0, len(data), 20000):
            put.stdin.write(data[at:at + 20000])
            put.stdin.flush()
            self.wait_for_part(put, at + 20000, self.here)
            self.assertIsNone(put.poll())
        self.assertFalse((self.here / "log").exists())
        self.assertEqual(put.communicate(timeout=toolbox.PATIENCE)[1], b"")
        self.assertEqual((self.here / "log").read_bytes(), data)

    def test_a_stream_that_is_cut_off_leaves_nothing(self):
        self.serve("--write")
        # pylint: disable=consider-using-with
        put = subprocess.Popen(
            [toolbox.TOOLS / "saratoga", "put", "-", self.url("log")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, put)
        put.stdin.write("x" * 5000)
        put.stdin.flush()
        self.wait_until(lambda: self.left_over(self.here))
        self.assertIsNone(put.poll())
        put.send_signal(signal.SIGTERM)  # with its input still open
        self.assertEqual(put.wait(toolbox.PATIENCE), 1)
        self.assertIn("/log: stopped\n", put.stderr.read())
        self.wait_until(lambda: not self.left_over(self.here))
        self.assertEqual(list(self.here.iterdir()), [])

    def test_what_an_unreliable_stream_loses_stays_lost(self):
        self.serve("--write", "--unreliable")
        data = saratogabox.content(40000)
        sent = []

        def drop(way, packet):
            is_data = way == "up" and packet[0] == 0x23
            if is_data:
                sent.append(packet)
            return is_data and len(sent) == 5

        relay = pcap.Relay(self.port, drop=drop)
        try:
            self.pipe(data, "put", "--unreliable", "--rate", "5mbit", "-",
                      self.url("log", relay.port))
        finally:
            relay.close()
        self.wait_for(self.here / "log")
        got = (self.here / "log").read_bytes()
        lost = [i for i, b in enumerate(got) if b != data[i]]
        self.assertEqual(len(got), len(data))
        self.assertGreater(len(lost), 1000)
        self.assertEqual(set(got[lost[0]:lost[-1] + 1]), {0})
        self.assertLess(lost[-1] - lost[0], 1500)

    def test_what_comes_late_of_an_unreliable_stream_is_left_out(self):
        os.mkfifo(self.here / "log")
        self.serve("--streams", "--unreliable", "--rate", "5mbit")
        data = saratogabox.content(40000)
        sent = []

        def hold(way, packet):
            if way == "up" or packet[0] != 0x23:
                return False
            sent.append(packet)
            if len(sent) == 8:
                relay.front.sendto(sent[4], relay.client)
            return len(sent) == 5

        relay = pcap.Relay(self.port, drop=hold)
        try:
            get = self.get_to_pipe("log", "--unreliable", port=relay.port)
            (self.here / "log").write_bytes(data)
            got, said = get.communicate(timeout=toolbox.PATIENCE)
        finally:
            relay.close()
        self.assertEqual((get.returncode, said), (0, b""))
        missing = len(data) - len(got)
        self.assertGreater(missing, 1000)
        at = next(i for i, b in enumerate(got) if b != data[i])
        self.assertEqual(got, data[:at] + data[at + missing:])

    def get_to_pipe(self, name, *options, port=None):
        # pylint: disable=consider-using-with
        get = subprocess.Popen(
            [toolbox.TOOLS / "saratoga", "get", *options,
             self.url(name, port), "-"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, get)
        return get

    def test_a_named_pipe_can_be_got_as_it_is_written(self):
        os.mkfifo(self.here / "log")
        self.serve("--streams")
        data = saratogabox.content(60000)
        get = self.get_to_pipe("log")
        with open(self.here / "log", "wb", buffering=0) as pipe:
            for at in range(0, len(data), 20000):
                pipe.write(data[at:at + 20000])
                self.assertEqual(get.stdout.read(20000), data[at:at + 20000])
            self.run_bad("in use", "get", self.url("log"), self.there / "x")
        self.assertEqual(get.communicate(timeout=toolbox.PATIENCE), (b"", b""))
        self.assertEqual(get.returncode, 0)
        self.assertEqual(self.left_over(self.there), [])

    def test_a_named_pipe_can_be_got_into_a_file(self):
        os.mkfifo(self.here / "log")
        self.serve("--streams")
        data = saratogabox.content(3000000)
        get = self.start("saratoga", "get", self.url("log"),
                         self.there / "log")
        (self.here / "log").write_bytes(data)
        self.assertEqual(self.finish(get), (0, ""))
        self.assertEqual((self.there / "log").read_bytes(), data)

    def test_a_named_pipe_is_no_stream_unless_that_is_allowed(self):
        os.mkfifo(self.here / "log")
        self.serve()
        self.run_bad("denied", "get", self.url("log"), "-")

    def test_who_reads_no_more_of_a_stream_ends_it(self):
        os.mkfifo(self.here / "log")
        server = self.serve("--streams")
        get = self.get_to_pipe("log")
        with open(self.here / "log", "wb", buffering=0) as pipe:
            pipe.write(b"x" * 5000)
            self.assertEqual(get.stdout.read(5000), b"x" * 5000)
            get.stdout.close()
            with self.assertRaises(BrokenPipeError):
                while True:
                    pipe.write(b"x" * 5000)
        self.assertEqual(get.wait(toolbox.PATIENCE), 1)
        self.assertIn(b"broken pipe", get.stderr.read())
        get.stderr.close()
        self.stop(server)

    def test_a_stream_has_to_fit_the_quota(self):
        self.serve("--write", "--quota", "100kB")
        done = subprocess.run(
            [toolbox.TOOLS / "saratoga", "put", "-", self.url("log")],
            input=bytes(300000), capture_output=True, check=False,
            timeout=toolbox.PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"by the peer", done.stderr)
        self.assertFalse((self.here / "log").exists())


if __name__ == "__main__":
    unittest.main()
