# SPDX-License-Identifier: MPL-2.0
"""The systemd units: systemd understands them, and saratoga their options."""
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

import toolbox

UNITS = sorted((toolbox.BUILD / "tools").glob("*@.service"))
GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "guide"


class Units(toolbox.Folder):
    def test_both_are_built(self):
        self.assertEqual([u.name for u in UNITS],
                         ["saratoga-mirror@.service",
                          "saratoga-serve@.service"])

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_systemd_understands_those_of_the_guides(self):
        for page in "from-srt.md", "saratoga-operator.md":
            unit, = re.findall(r"^```ini\n(\[Unit\]\n.*?)^```$", (
                GUIDE / page).read_text(encoding="utf-8"), re.M | re.S)
            one = self.folder / "one.service"
            one.write_text(unit.replace("/usr/local/bin",
                                        str(toolbox.BUILD / "tools")),
                           encoding="utf-8")
            done = subprocess.run(["systemd-analyze", "verify", "--man=no",
                                   one], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_systemd_understands_them(self):
        tool = toolbox.BUILD / "tools/saratoga"
        for unit in UNITS:
            text = re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={tool}",
                          unit.read_text(encoding="utf-8"))
            one = self.folder / unit.name.replace("@", "@x")
            one.write_text(text, encoding="utf-8")
            (self.folder / unit.name).write_text(text, encoding="utf-8")
            done = subprocess.run(["systemd-analyze", "verify", "--man=no",
                                   one], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_their_options_are_ours(self):
        for unit in UNITS:
            text = unit.read_text(encoding="utf-8")
            line = re.search(r"(?m)^ExecStart=\S+ (.*)$", text).group(1)
            for word, value in (("%i", "x"), ("$OPTIONS", "--quiet"),
                                ("${PORT}", "0"),
                                ("${URL}", "saratoga://127.0.0.1:9/")):
                line = line.replace(word, value)
            words = shlex.split(line.replace("/var/lib/saratoga/x",
                                             str(self.folder)))
            done = toolbox.run("saratoga", *words, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)


if __name__ == "__main__":
    unittest.main()
