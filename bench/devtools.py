# SPDX-License-Identifier: MPL-2.0
"""A headless browser, driven by the DevTools protocol over two pipes."""
import contextlib
import json
import os
import select
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT = 90  # s for an answer; a busy machine starts browsers slowly
OPTIONS = ("--headless=new", "--no-first-run", "--no-default-browser-check",
           "--disable-gpu", "--disable-extensions", "--disable-sync",
           "--disable-background-networking", "--disable-component-update",
           "--disable-background-timer-throttling",
           "--disable-renderer-backgrounding",
           "--disable-backgrounding-occluded-windows", "--mute-audio",
           "--remote-debugging-pipe")


class BrowserError(Exception):
    """The reason why the browser did not do it, as a sentence."""


class Browser:
    """A browser with one page.  It reads commands from its descriptor 3 and
    answers on 4, each message ended by a zero."""

    def __init__(self, program, options, profile, log, prefix=()):
        theirs, self.to = os.pipe()
        self.answers, ours = os.pipe()
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        # Bash moves the pipes to where the browser wants them.
        command = [*prefix, "bash", "-c", f'exec "$@" 3<&{theirs} 4>&{ours}',
                   "bash", program, *OPTIONS, *root,
                   f"--user-data-dir={profile}", *options]
        with open(log, "wb") as file:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                pass_fds=(theirs, ours), start_new_session=True)
        os.close(theirs)
        os.close(ours)
        self.number, self.rest, self.session = 0, b"", None
        self.events = []

    def read(self, end):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.answers], [], [],
                                        max(0, end - time.monotonic()))
            data = os.read(self.answers, 1 << 20) if ready else b""
            if not data:
                raise BrowserError("the browser does not answer")
            self.rest += data
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        return self.number

    def call(self, method, timeout=TIMEOUT, **parameters):
        number, end = self.send(method, **parameters), time.monotonic() + timeout
        while True:
            answer = self.read(end)
            if answer.get("id") == number:
                break
            self.events.append(answer)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def wait_event(self, method, condition, timeout=TIMEOUT):
        end = time.monotonic() + timeout
        while True:
            event = self.events.pop(0) if self.events else self.read(end)
            if event.get("method") == method and condition(event["params"]):
                return event["params"]

    def open(self, url):
        """Makes a page and waits until it has loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Page.navigate", url=url)
        self.wait_event("Page.loadEventFired", lambda _: True)

    def evaluate(self, expression, timeout=TIMEOUT):
        """The value of an expression of the page, awaited."""
        done = self.call("Runtime.evaluate", timeout, expression=expression,
                         awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            told = done["exceptionDetails"]
            raise BrowserError(told.get("exception", {}).get(
                "description", told["text"]).splitlines()[0])
        return done["result"].get("value")

    def close(self):
        with contextlib.suppress(BrowserError, OSError):
            self.session = None
            self.call("Browser.close", 5)
        for descriptor in (self.to, self.answers):
            os.close(descriptor)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def find():
    """The path of a browser, or None."""
    for folder in os.environ["PATH"].split(":"):
        for name in NAMES:
            path = os.path.join(folder, name)
            if os.access(path, os.X_OK):
                return path
    return None
