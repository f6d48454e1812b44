# SPDX-License-Identifier: MPL-2.0
"""What the guides tell people to do, as it stands there: the commands of camera
and viewers run against each other; those of every page name only programs,
verbs, options and elements that exist."""
import re
import shlex
import shutil
import subprocess
import unittest

import pagebox
import toolbox

ROOT = pagebox.DOCS.parent
TOOLS = {"tltcp-send": "tltcp/send_options.c",
         "tltcp-recv": "tltcp/recv_options.c",
         "tltcp-live-transmit": "live-transmit/options.c",
         "linkem": "linkem/options.c", "saratoga": "saratoga/options.c"}
CAMERA, VIEWERS, START, TROUBLE = ("guide/camera.md", "guide/viewers.md",
                                   "guide/start.md",
                                   "guide/troubleshooting.md")
ELEMENTS, KEYS = "reference/elements.md", "guide/security-keys.md"


class Guides(pagebox.Page):
    """Cameras and windows are replaced by what every machine has."""

    def play(self, line, frames=0):
        line = line.replace("v4l2src", "videotestsrc is-live=true")
        line = line.replace("autoaudiosrc", "audiotestsrc is-live=true")
        for screen in "autovideosink", "autoaudiosink":
            line = line.replace(screen, "fakesink")
        line = line.replace("keep-listening=true", "keep-listening=false")
        if frames:
            line = line.replace("videotestsrc",
                                f"videotestsrc num-buffers={frames}")
            line = line.replace("audiotestsrc",
                                f"audiotestsrc num-buffers={frames}")
        return self.start_line(line, patient=True)

    def plays(self, receive, send, port="5000"):
        receiver = self.play(receive)
        self.await_port(port)
        self.ends_well(self.play(send, frames=60))
        self.ends_well(receiver)

    def test_a_camera_is_seen(self):
        self.plays(*pagebox.commands(CAMERA, "The two commands"))

    def test_a_camera_is_seen_and_heard(self):
        send, receive = pagebox.commands(CAMERA, "With sound")
        self.plays(receive, send)

    def test_a_passphrase_is_made_and_taken(self):
        if not shutil.which("openssl"):
            self.skipTest("there is no openssl here")
        make, receive, send = pagebox.commands(CAMERA, "With a passphrase")
        self.ends_well(self.start_line(make))
        self.assertGreater(len((self.folder / "passphrase").read_text()), 20)
        self.plays(receive, send)

    def test_the_first_stream(self):
        _, receive, send = pagebox.commands(START, "Your first stream")
        self.plays(receive, send)

    def test_a_bad_link_takes_the_stream_on(self):
        _, receive, send = pagebox.commands(START, "Your first stream")
        link, = pagebox.commands(START, "Make the link bad")
        receiver = self.play(receive)
        self.await_port("5000")
        self.start_line(link)
        self.await_port("6000")
        self.ends_well(self.play(send.replace(":5000", ":6000"), frames=60))
        self.ends_well(receiver)

    def test_a_stream_finds_its_way_over_tcp(self):
        receive, send = pagebox.commands(TROUBLE, "UDP is blocked")
        for transport in "auto", "tcp":  # where UDP answers, and where not
            receiver = self.start_line(receive.replace("auto", transport))
            kinds = ("udp", "udp6") if transport == "auto" else ("tcp", "tcp6")
            self.await_port("5000", kinds)
            self.ends_well(self.start_line(send))
            self.ends_well(receiver)
            self.assertGreater(self.pictures(self.folder / "film.mkv"), 10)

    def test_the_pipelines_of_the_elements(self):
        for heading in "The GStreamer elements", "Several streams":
            block, = pagebox.commands(ELEMENTS, heading)
            receive, send = block.split("\n\n")
            self.plays(receive, send, port="7001")

    def test_an_encoder_follows(self):
        send, = pagebox.commands(ELEMENTS, "Encoders that follow")
        receive, _ = pagebox.commands(START, "Your first stream")[1:]
        self.plays(receive, send)

    def test_an_encoder_without_gstreamer_is_seen(self):
        send, receive = pagebox.commands(CAMERA, "From an encoder")
        player = self.udp_player()
        self.start_line(receive)
        self.await_port("5000")
        self.start_line(send)
        self.await_port("1234")
        self.ends_well(self.start_line(
            "ffmpeg -v error -re -i film.ts -c copy -f mpegts "
            "'udp://127.0.0.1:1234?pkt_size=1316'"))
        self.assertEqual(player.recv(65536)[0], 0x47)

    def test_a_relay_takes_a_camera_to_a_viewer(self):
        relay, = pagebox.commands(VIEWERS, "Through a relay")
        _, view = pagebox.commands(VIEWERS, "From the camera itself")
        _, camera = pagebox.commands(CAMERA, "The two commands")
        self.start_line(relay)
        self.await_port("5000")
        self.play(camera)
        self.await_port("5001")
        self.ends_well(self.play(view.replace(
            "autovideosink", "fakesink num-buffers=10")))

    def test_prometheus_reads_the_page_of_figures(self):
        toolbox.need("curl")
        block, = pagebox.commands("reference/statistics.md", "Prometheus")
        serve, fetch = block.split("\n")
        (self.folder / "callers.txt").write_text("studio correct horse\n")
        done = toolbox.run("tltcp-live-transmit", "--metrics", "127.0.0.1:x",
                           "udp://:1", "tltcp://:1")
        if "libmicrohttpd" in done.stderr:
            self.skipTest("there is no libmicrohttpd here")
        self.start_line(serve)
        self.await_port("9464", ("tcp",))
        figures = self.folder / "figures"
        while "tltcp_connected" not in (
                figures.read_text() if figures.exists() else ""):
            self.ends_well(self.start_line(f"{fetch} -o figures"))

    def make_keys(self):
        """What the page of the keys makes; returns what it does with them."""
        if not shutil.which("openssl"):
            self.skipTest("there is no openssl here")
        make, = pagebox.commands(KEYS, "Which kind")
        make_pairs, use_pairs = pagebox.commands(KEYS, "Static keys")
        for block in make, make_pairs:
            self.ends_well(self.start_line(block))
        shutil.copy(self.folder / "camera-7.key", self.folder / "station.key")
        use, = pagebox.commands(KEYS, "Handing out")
        return [line.replace("/etc/tltcp/", "").replace("//host", "//127.0.0.1")
                .replace("tltcp-recv", "tltcp-recv --once")
                for line in (use_pairs + "\n" + use).split("\n")]

    def test_keys_are_made_and_taken(self):
        (recv_pair, send_pair, show_pair, recv, _, _, send,
         show) = self.make_keys()
        send = 'pass() { cat "$2"; }; ' + send
        for receive, call in ((recv_pair, send_pair), (show_pair, send_pair),
                              (recv, send), (show, send)):
            receiver = self.play(receive)
            self.await_port("5000")
            self.ends_well(self.start_line(call))
            _, said = receiver.communicate(timeout=toolbox.PATIENCE)
            self.assertEqual(receiver.returncode, 0, said)
            self.assertEqual("caller is camera 7" in said, receive == recv_pair)

    def test_a_key_file_opens_a_live_stream(self):
        transmit = self.make_keys()[4]
        receiver = self.start_line("tltcp-live-transmit -a no "
                                   "'tltcp://:5000?key-file=camera-7.key' out.ts")
        self.await_port("5000")
        self.start_line(transmit)
        self.await_port("1234")
        while self.pictures_so_far(self.folder / "out.ts") < 10:
            self.assertIsNone(receiver.poll())
            self.ends_well(self.start_line(
                "ffmpeg -v error -re -i film.ts -c copy -f mpegts "
                "'udp://127.0.0.1:1234?pkt_size=1316'"))

    def test_a_key_file_opens_a_server(self):
        serve = self.make_keys()[5].replace("/images", ".")
        self.start_line(serve + " --bind 127.0.0.1:7542")
        self.await_port("7542")
        self.ends_well(self.start_line(
            "saratoga get -q --key-file station.key "
            "saratoga://127.0.0.1:7542/film.mp4 got.mp4"))
        self.assertEqual((self.folder / "got.mp4").read_bytes(),
                         (self.folder / "film.mp4").read_bytes())

    def test_the_tools_begin_with_the_lines_of_their_table(self):
        text = (pagebox.DOCS / "reference/tools.md").read_text(encoding="utf-8")
        send, receive, transmit, serve, link = re.findall(
            r"^\| `[a-z-]+` \| [^|]+ \| `(.*)` \|$", text, re.M)
        receiver = self.start_line(receive)
        self.await_port("5000")
        self.ends_well(self.start_line(send))
        self.ends_well(receiver)
        serve = serve.replace("/images", ".") + " --bind 127.0.0.1:7542"
        for line, port in (transmit, "1234"), (serve, "7542"), (link, "6000"):
            self.start_line(line)
            self.await_port(port)

    def test_a_camera_serves_two_viewers(self):
        serve, view = pagebox.commands(VIEWERS, "From the camera itself")
        self.start_line(serve)
        self.await_port("5001")
        view = view.replace("autovideosink", "fakesink num-buffers=10")
        for viewer in [self.play(view) for _ in range(2)]:
            self.ends_well(viewer)


def blocks():
    """The shell commands of all pages, each with its page."""
    pages = [*pagebox.DOCS.rglob("*.md"), ROOT / "README.md"]
    for page in sorted(pages):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S):
            for line in block.replace("\\\n", " ").splitlines():
                yield page.relative_to(ROOT).as_posix(), line


def commands_of(program):
    """The words after a program, wherever pages name it in a shell line."""
    for page, line in blocks():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue  # a part of a longer command
        for i, word in enumerate(words):
            if word == program:
                rest = words[i + 1:]
                ends = [j for j, w in enumerate(rest)
                        if w in ("|", "&", "&&", ";", ">")]
                yield page, rest[:ends[0] if ends else len(rest)]


class Help(unittest.TestCase):
    def test_the_main_options_fit_a_terminal(self):
        for tool in TOOLS:
            done = toolbox.run(tool, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            lines = done.stdout.splitlines()
            self.assertLessEqual(len(lines), 40, tool)
            self.assertLessEqual(max(map(len, lines)), 80, tool)
            self.assertNotIn("\n\n\n", done.stdout)
            *main, blank, where = lines
            self.assertEqual(blank, "")
            self.assertIn(f"{tool} --help-all", where)
            whole = toolbox.run(tool, "--help-all").stdout.splitlines()
            self.assertGreater(len(whole), len(lines))
            self.assertLessEqual(set(main), set(whole))

    def test_every_option_is_told_of_somewhere(self):
        for tool, source in TOOLS.items():
            text = (ROOT / "tools" / source).read_text(encoding="utf-8")
            options = re.findall(r'^    \{"([a-z-]+)", \w+_argument', text, re.M)
            self.assertGreater(len(options), 10, tool)
            whole = toolbox.run(tool, "--help-all").stdout
            for option in set(options) - {"help-all"}:
                self.assertIn(f"--{option}", whole, tool)


class EveryPage(unittest.TestCase):
    def options_exist(self, tool, told):
        seen = 0
        for page, words in commands_of(tool):
            for word in words:
                option = re.match(r"--?[a-z][\w-]*", word)
                if option:
                    self.assertRegex(
                        told, rf"(?m)(?<![\w-]){re.escape(option.group())}"
                        r"(?![\w-])", f"{page}: {tool} {' '.join(words)}")
                    seen += 1
        return seen

    def test_options_of_the_tools_exist(self):
        for tool in TOOLS:
            told = toolbox.run(tool, "--help-all").stdout
            if tool == "linkem":  # each setting is an option as well
                told += re.sub(r"(?m)^  ([a-z-]+)=", r"--\1 ", told)
            self.assertTrue(self.options_exist(tool, told), tool)

    def test_verbs_of_dev_exist(self):
        told = subprocess.run([ROOT / "dev", "help"], check=True, text=True,
                              capture_output=True).stdout
        for page in pagebox.DOCS.rglob("*.md"):
            text = page.read_text(encoding="utf-8")
            verbs = set(re.findall(r"(?:`|^)\./dev (\w+)", text, re.M))
            for verb in verbs - {"help"}:
                self.assertRegex(told, rf"(?m)^  {verb}\b", str(page))

    def test_keys_of_urls_exist(self):
        page = (pagebox.DOCS / "reference/configuration.md").read_text(
            encoding="utf-8")
        known = set(re.findall(r"`([a-z-]+)`", page))
        known |= {"adapter", "ttl", "tos", "buffer", "encoder"}  # of udp
        for name, line in blocks():
            for query in re.findall(r"tltcp://[^\s'\"?]*\?([^\s'\"]*)", line):
                for key in re.findall(r"(?:^|&)([a-z-]+)=", query):
                    self.assertIn(key, known, f"{name}: {line}")
        tuning = (pagebox.DOCS / "guide/tuning.md").read_text(encoding="utf-8")
        keys = re.findall(r"`([a-z-]+)=", tuning)
        self.assertGreater(len(keys), 8)
        self.assertLessEqual(set(keys), known)

    def test_every_key_of_a_url_is_in_the_table(self):
        source = (ROOT / "libtltcp/live/options.c").read_text(encoding="utf-8")
        keys = re.findall(r'\{"([a-z-]+)", live_', source)
        self.assertGreater(len(keys), 20)
        page = (pagebox.DOCS / "reference/configuration.md").read_text(
            encoding="utf-8")
        for key in keys:
            self.assertIn(f"`{key}`", page)

    def keys_of_a_tool(self, tool):
        """Sets of names of one key each, from the table."""
        rows = re.findall(r"^\| (`.*?) \|.*?\| (.*?) \| ([^|]*) \|[^|]*\|$", (
            pagebox.DOCS / "reference/configuration.md").read_text(
                encoding="utf-8"), re.M)
        self.assertGreater(len(rows), 20)
        groups = {"all", "tools", tool}
        if tool != "tltcp-recv":
            groups.add("senders")
        for keys, meaning, taken in rows:
            taken = taken.replace("`", "")
            others = re.findall(r"outside GStreamer also `([a-z-]+)`", meaning)
            if (taken.startswith("all but ") and not taken.endswith(tool)
                    or groups & set(taken.split(", "))):
                for key in re.findall("[a-z-]+", keys):
                    yield {key, *others}

    def test_keys_that_the_tools_list_are_those_of_the_table(self):
        for tool, *words in (
                ("tltcp-send", "film.mp4", "tltcp://host:1?wrong=1"),
                ("tltcp-recv", "tltcp://:1?wrong=1", "-"),
                ("tltcp-live-transmit", "-", "tltcp://:1?wrong=1")):
            listed = toolbox.run(tool, *words).stderr.splitlines()[0]
            listed = set(listed.split("valid keys are ")[1].split(", "))
            told = toolbox.run(tool, "--help-all").stdout
            told = re.split("Keys of (?:the URL|tltcp)", told, maxsplit=1)[1]
            self.assertLessEqual(listed, set(re.findall("[a-z-]+", told)))
            for names in self.keys_of_a_tool(tool):
                self.assertEqual(len(listed & names), 1, (tool, names))
                listed -= names
            self.assertEqual(listed, set(), tool)

    def test_every_error_is_in_the_table(self):
        page = (pagebox.DOCS / "reference/errors.md").read_text(
            encoding="utf-8")
        for header, source in (
                ("tltcp/types.h", "libtltcp/engine/tltcp.c"),
                ("saratoga/types.h", "libsaratoga/engine/saratoga.c")):
            codes = re.findall(
                r"^    ((?:TLTCP|SARATOGA)_ERR_(?!LAST)\w+) = -(\d+),",
                (ROOT / "include" / header).read_text(encoding="utf-8"), re.M)
            texts = re.findall(r'^        "(.*)",$', (ROOT / source).read_text(
                encoding="utf-8"), re.M)
            self.assertGreater(len(codes), 15)
            for code, value in codes:
                self.assertIn(f"| `{code}` | -{value} | {texts[int(value)]} |",
                              page)


if __name__ == "__main__":
    unittest.main()
