# SPDX-License-Identifier: MPL-2.0
"""Stock OBS Studio with the module for tltcp, on a display without a screen, for
the tests that need it."""
import json
import os
import shutil
import subprocess
import time

import stage
from obs_control import Control

FPS = 30


def ini(**sections):
    return "".join(f"[{name}]\n" + "".join(f"{k}={v}\n" for k, v in keys.items())
                   for name, keys in sections.items())


class Obs(stage.Stage):
    bitrate = 1500
    x264 = ""
    low_delay = True

    def setUp(self):
        super().setUp()
        self.settings = self.folder / ".config" / "obs-studio"
        self.control_port = self.free_tcp_port()
        module = self.settings / "plugins" / "tltcp" / "bin" / "64bit"
        profile = self.settings / "basic" / "profiles" / "t"
        for folder in module, profile, self.settings / "basic" / "scenes":
            folder.mkdir(parents=True)
        shutil.copy(stage.PLUGINS / "obs" / "tltcp.so", module)
        (self.settings / "global.ini").write_text(ini(
            General={"FirstRun": "true", "EnableAutoUpdates": "false"},
            Basic={"Profile": "t", "ProfileDir": "t", "SceneCollection": "t",
                   "SceneCollectionFile": "t"},
            OBSWebSocket={"FirstLoad": "false", "ServerEnabled": "true",
                          "ServerPort": self.control_port,
                          "AlertsEnabled": "false", "AuthRequired": "false"}),
            encoding="ascii")
        self.profile = profile
        self.service = profile / "service.json"
        self.write_profile(self.x264)

    def write_profile(self, x264):
        (self.profile / "basic.ini").write_text(ini(
            General={"Name": "t"},
            Video={"BaseCX": 320, "BaseCY": 240, "OutputCX": 320,
                   "OutputCY": 240},
            Output={"Mode": "Simple", "Reconnect": "true", "RetryDelay": 1},
            SimpleOutput={"VBitrate": self.bitrate, "StreamEncoder": "x264",
                          "UseAdvanced": "true", "Preset": "veryfast",
                          "x264Settings": x264}),
            encoding="ascii")

    @staticmethod
    def free_tcp_port():
        import socket  # pylint: disable=import-outside-toplevel
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return s.getsockname()[1]

    def display(self):
        ends = os.pipe()
        # pylint: disable=consider-using-with
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(ends[1]), "-screen", "0", "1280x800x24",
             "-nolisten", "tcp"], pass_fds=[ends[1]], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, server)
        os.close(ends[1])
        with os.fdopen(ends[0]) as answer:
            return f":{answer.readline().strip()}"

    def obs(self, url):
        """OBS that streams there; None: as it is when new."""
        if url is not None:
            self.service.write_text(json.dumps(
                {"settings": {"server": url, "low_delay": self.low_delay},
                 "type": "tltcp_service"}),
                encoding="ascii")
        process = self.launch(
            ["obs", "--multi", "--minimize-to-tray"],
            env={"DISPLAY": self.display(), "QT_QPA_PLATFORM": "xcb",
                 "XDG_CONFIG_HOME": str(self.settings.parent),
                 "LIBGL_ALWAYS_SOFTWARE": "1"})
        self.await_said(process, "Server started successfully")
        control = Control(self.control_port)
        self.addCleanup(control.close)
        return process, control

    def stream(self, control):
        end = time.monotonic() + stage.toolbox.PATIENCE
        while not control.ask("StartStream")[0]:
            self.assertLess(time.monotonic(), end, "OBS does not begin")
            time.sleep(0.2)

    def await_status(self, control, wanted):
        end = time.monotonic() + stage.toolbox.PATIENCE
        while not wanted(status := control.ask("GetStreamStatus")[1]):
            self.assertLess(time.monotonic(), end, status)
            time.sleep(0.2)
        return status

    def add_noise(self, control, y=0):
        """A picture that takes what bitrate it gets."""
        film = self.folder / "noise.mp4"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
             "nullsrc=s=320x240:r=30,geq=random(1)*255:128:128", "-t", "4",
             "-c:v", "libx264", "-preset", "ultrafast", film], check=True)
        scene = control.ask("GetCurrentProgramScene")[1]
        done, answer = control.ask(
            "CreateInput", sceneName=scene["currentProgramSceneName"],
            inputName="noise", inputKind="ffmpeg_source",
            inputSettings={"local_file": str(film), "looping": True})
        self.assertTrue(done, answer)
        self.assertTrue(control.ask(
            "SetSceneItemTransform",
            sceneName=scene["currentProgramSceneName"],
            sceneItemId=answer["sceneItemId"],
            sceneItemTransform={"positionY": y})[0])

    def vendor(self, control):
        """How the stream goes, as programs that steer OBS hear it."""
        done, answer = control.ask("CallVendorRequest", vendorName="tltcp",
                                   requestType="statistics")
        self.assertTrue(done, answer)
        return answer["responseData"]
