# SPDX-License-Identifier: MPL-2.0
"""Which transports of ./dev bench adaptive are here, and why others are not."""
import json
import os
import shutil
import subprocess

import adaptive_cases
import devtools

CRATE, VERSION = "gst-plugin-rtp", "0.12.11"  # for GStreamer 1.20 and newer
LIBRARY = "libgstrsrtp.so"
ALWAYS = ("ffmpeg", "gst-launch-1.0", "ip")   # without which nothing runs


def missing_programs():
    return [name for name in ALWAYS if not shutil.which(name)]


def inspect(element, environment):
    """GStreamer's description of an element, or nothing.  (Its
    --exists wants plugins as new as GStreamer itself.)"""
    done = subprocess.run(["gst-inspect-1.0", element], check=False, text=True,
                          capture_output=True,
                          env=dict(os.environ, **environment))
    return done.stdout if done.returncode == 0 else ""


def why_absent(transport, environment):
    """The reason why a transport cannot be measured here, or None."""
    if transport.browser:
        return None if devtools.find() else \
            "there is no Chromium (Debian: chromium)"
    for _, program, *_ in transport.helpers:
        if not shutil.which(program):
            return f"there is no {program} (Debian: rist-tools)"
    told = inspect(transport.element, environment)
    if not told:
        return f"there is no {transport.element}"
    if transport.property and f"\n  {transport.property} " not in told:
        return f"{transport.element} has no property {transport.property}"
    return None


def choose(names, environment, say):
    """The transports that are here, and lines about the others."""
    chosen, absent = {}, []
    for name in names:
        transport = adaptive_cases.TRANSPORTS[name]
        why = why_absent(transport, environment)
        if why:
            say(f"no {transport.name}: {why}")
            absent.append(f"{transport.name}: {why}")
        else:
            chosen[name] = transport
    return chosen, absent


# --- rtpgccbwe, which Debian 12 does not have ------------------------------

def run(words, folder):
    done = subprocess.run(words, cwd=folder, check=False, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no word why"]
        raise OSError(f"{' '.join(words[:2])}: {lines[-1]}")
    return done.stdout


def crate_source(folder):
    """The crate, unpacked by Cargo for a package that depends on it."""
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "lib.rs").write_text("", encoding="ascii")
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "peer"\nversion = "0.0.0"\nedition = "2021"\n'
        f'[dependencies]\n{CRATE} = "={VERSION}"\n', encoding="ascii")
    known = json.loads(run(["cargo", "metadata", "--format-version", "1"],
                           folder))
    path = next(p["manifest_path"] for p in known["packages"]
                if p["name"] == CRATE)
    shutil.copytree(os.path.dirname(path), folder / CRATE, dirs_exist_ok=True)
    return folder / CRATE


def build_gcc(folder, environment, say):
    """Builds rtpgccbwe from crates.io where Cargo is found and GStreamer lacks
    it; returns the environment with it."""
    target = folder / "target" / "release"
    if not (target / LIBRARY).exists():
        if inspect("rtpgccbwe", environment) or not shutil.which("cargo"):
            return environment
        say(f"building rtpgccbwe ({CRATE} {VERSION} of crates.io), some "
            "minutes, once")
        try:
            run(["cargo", "build", "--release", "--target-dir",
                 str(folder / "target")], crate_source(folder))
        except (OSError, ValueError, StopIteration) as error:
            say(f"no rtpgccbwe: {error}")
            return environment
    path = os.pathsep.join(p for p in (environment.get("GST_PLUGIN_PATH"),
                                       str(target)) if p)
    return {**environment, "GST_PLUGIN_PATH": path}
