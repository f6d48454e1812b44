#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""From glass to glass: stock OBS Studio films a clock on its screen and streams
it over an emulated link to stock VLC; the clock in each picture that VLC shows
is compared with the one here.

usage: PERIGEE_BUILD_DIR=... measure_obs.py [SECONDS [RATE DELAY LOSS [X264]]]
Prints one JSON object.  Default: 60 s over 4mbit, 20ms each way, 2% loss; after
half the time the link carries half, with a rate such as 4mbit+ it stays.
X264: settings such as tune=film.
"""
import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
import threading
import time

import stage
from obs_stage import Obs

CELL = 32
COLUMNS = 10
BITS = 20
WIDTH, HEIGHT = 320, 240
LATENCY = 400
STARTS = 10  # seconds until OBS streams


def now_ms():
    return time.monotonic_ns() // 1_000_000 % (1 << BITS)


class Clock(threading.Thread):
    """A window without a frame whose cells are the bits of the clock, and below
    them the same inverted."""

    def __init__(self, display):
        super().__init__(daemon=True)
        self.display = display
        self.over = False

    def run(self):
        x = ctypes.CDLL(ctypes.util.find_library("X11"))
        x.XOpenDisplay.restype = ctypes.c_void_p
        x.XCreateGC.restype = ctypes.c_void_p
        d = ctypes.c_void_p(x.XOpenDisplay(self.display.encode()))
        root = ctypes.c_ulong(x.XDefaultRootWindow(d))
        window = ctypes.c_ulong(x.XCreateSimpleWindow(
            d, root, 0, 0, WIDTH, HEIGHT, 0, 0, 0))
        gc = ctypes.c_void_p(x.XCreateGC(d, window, 0, None))
        x.XMapRaised(d, window)
        while not self.over:
            value = now_ms()
            x.XRaiseWindow(d, window)
            for bit in range(BITS):
                on = value >> bit & 1
                column, row = bit % COLUMNS, bit // COLUMNS
                for inverted in range(2):
                    x.XSetForeground(d, gc, ctypes.c_ulong(
                        0xffffff if on ^ inverted else 0))
                    x.XFillRectangle(d, window, gc, column * CELL,
                                     (row + 2 * inverted) * CELL, CELL, CELL)
            x.XSync(d, 0)
            time.sleep(0.005)


def read_clock(picture):
    """The clock in a picture; None: it is damaged."""
    def cell(column, row):
        at = (row * CELL + CELL // 2) * WIDTH + column * CELL + CELL // 2
        return picture[at] > 127
    value = 0
    for bit in range(BITS):
        column, row = bit % COLUMNS, bit // COLUMNS
        if cell(column, row) == cell(column, row + 2):
            return None
        value |= cell(column, row) << bit
    return value


class Measure(Obs):
    bitrate = 3500
    seconds, rate, delay, loss = 60, "4mbit", "20ms", "2%"
    result = {}

    def display(self):
        name = super().display()
        self.clock = Clock(name)
        self.clock.start()
        self.addCleanup(self.stop_clock)  # before its display goes
        return name

    def stop_clock(self):
        self.clock.over = True
        self.clock.join()

    def film_screen(self, control):
        scene = control.ask("GetCurrentProgramScene")[1]
        kinds = control.ask("GetInputKindList")[1]["inputKinds"]
        done, answer = control.ask(
            "CreateInput", sceneName=scene["currentProgramSceneName"],
            inputName="screen",
            inputKind=[k for k in kinds if k.startswith("xshm_input")][-1],
            inputSettings={"show_cursor": False})
        self.assertTrue(done, answer)
        done, answer = control.ask(
            "SetSceneItemTransform",
            sceneName=scene["currentProgramSceneName"],
            sceneItemId=answer["sceneItemId"],
            sceneItemTransform={"cropRight": 1280 - WIDTH,
                                "cropBottom": 800 - HEIGHT})
        self.assertTrue(done, answer)

    @staticmethod
    def rate_of(text):
        return int(float(text.removesuffix("mbit")) * 1e6)

    def vlc(self):
        """VLC that waits for a sender: where, and its pictures as a file."""
        port, screen = stage.free_port(), self.folder / "screen"
        os.mkfifo(screen)
        screen.chmod(0o666)
        vlc = self.launch(
            stage.nobody("cvlc", "-vv", "-I", "dummy", "--no-plugins-cache",
                         "--avcodec-hw=none", "--aout=dummy",
                         "--vout=yuv", "--yuv-yuv4mpeg2",
                         f"--yuv-file={screen}",
                         f"tltcp://127.0.0.1:{port}?mode=listener"
                         f"&auto-reconnect=no&latency={LATENCY}", "vlc://quit"),
            env={"VLC_PLUGIN_PATH": str(stage.PLUGINS / "vlc")})
        self.await_port(vlc, port)
        return f"127.0.0.1:{port}", screen

    @staticmethod
    def watch_screen(screen, pictures):
        """Notes when each picture was shown, and the clock in it.  VLC opens its
        output more than once, so this never ends."""
        size = WIDTH * HEIGHT
        with open(os.open(screen, os.O_RDWR), "rb") as file:
            while line := file.readline():
                if line != b"FRAME\n":
                    continue  # the header of a file
                picture = file.read(size * 3 // 2)
                pictures.append((now_ms(), read_clock(picture[:size])))

    def watch(self, control, halved):
        """Until the time is over: what the encoder makes, before and after."""
        before, followed = 0, None
        while not self.vendor(control)["streaming"]:
            time.sleep(0.1)
        while time.monotonic() < halved + self.seconds / 2:
            made = self.vendor(control)["encoder_kbps"]
            after = time.monotonic() - halved
            if after < 0:
                before = made
            elif followed is None and made < before / 2:
                followed = round(after, 2)
            time.sleep(0.1)
        return before, followed, made

    def test_from_glass_to_glass(self):
        address, screen = self.vlc()
        started = time.monotonic()
        rate = self.rate.rstrip("+")
        half = self.rate_of(rate) // (2 if rate == self.rate else 1)
        _, (inlet,) = self.linkem(
            "--rate", rate, "--delay", self.delay, "--loss", self.loss,
            "--at", f"{STARTS + self.seconds / 2}s,rate={half}",
            "127.0.0.1:0", address)
        _, control = self.obs(f"tltcp://127.0.0.1:{inlet}?latency={LATENCY}")
        self.film_screen(control)
        self.add_noise(control, 128)
        pictures = []
        reader = threading.Thread(target=self.watch_screen,
                                  args=(screen, pictures), daemon=True)
        reader.start()
        self.stream(control)
        before, followed, after = self.watch(
            control, started + STARTS + self.seconds / 2)
        state = self.vendor(control)
        status = control.ask("GetStreamStatus")[1]
        control.ask("StopStream")
        time.sleep(2 * LATENCY / 1000)
        delays = sorted((then - clock) % (1 << BITS)
                        for then, clock in pictures if clock is not None)
        Measure.result = {
            "seconds": self.seconds, "latency_ms": LATENCY,
            "pictures_sent": status["outputTotalFrames"],
            "pictures_seen": len(pictures),
            "damaged": sum(clock is None for _, clock in pictures),
            "delay_ms": {name: delays[int(len(delays) * part)]
                         for name, part in (("median", .5), ("p95", .95),
                                            ("p99", .99))} |
                        {"worst": delays[-1]},
            "dropped": {k: v for k, v in state.items()
                        if k.startswith("dropped")},
            "encoder_kbps": {"before": before, "after": after,
                             "below_half_after_s": followed},
            "rtt_ms": state["rtt_ms"], "loss_percent": state["loss_percent"]}


if __name__ == "__main__":
    import unittest
    stage.missing("obs", "Xvfb", "ffmpeg", "cvlc", "setpriv")
    words = sys.argv[1:]
    Measure.seconds = int(words[0]) if words else Measure.seconds
    for name, word in zip(("rate", "delay", "loss", "x264"), words[1:]):
        setattr(Measure, name, word)
    suite = unittest.TestSuite([Measure("test_from_glass_to_glass")])
    done = unittest.TextTestRunner(stream=open(os.devnull, "w",
                                               encoding="ascii")).run(suite)
    for _, trace in done.failures + done.errors:
        print(trace, file=sys.stderr)
    print(json.dumps(Measure.result, indent=1))
    sys.exit(not done.wasSuccessful())
