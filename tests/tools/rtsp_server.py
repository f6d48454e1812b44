# SPDX-License-Identifier: MPL-2.0
"""An RTSP server: a camera at /stream that shows 50 pictures of H.264, and at
/live a place to send H.264 to, which goes into a file.

usage: rtsp_server.py PORT FILE

Says when it listens, and ends when it is told to.
"""
import sys

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    # pylint: disable=wrong-import-position
    from gi.repository import GLib, Gst, GstRtspServer
except (ImportError, ValueError) as error:
    sys.exit(f"there is no RTSP server here: {error}")


def add(server, path, launch, mode):
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(f"( {launch} )")
    factory.set_transport_mode(mode)
    server.get_mount_points().add_factory(path, factory)


def main(port, file):
    Gst.init(None)
    server = GstRtspServer.RTSPServer(service=port, address="127.0.0.1")
    add(server, "/stream",
        "videotestsrc num-buffers=50 is-live=true pattern=ball "
        "! video/x-raw,width=160,height=120,framerate=25/1 "
        "! x264enc tune=zerolatency key-int-max=25 ! rtph264pay name=pay0",
        GstRtspServer.RTSPTransportMode.PLAY)
    add(server, "/live",
        "rtph264depay name=depay0 ! h264parse "
        "! video/x-h264,stream-format=byte-stream "
        "! filesink async=false sync=false buffer-mode=unbuffered "
        f"location={file}",
        GstRtspServer.RTSPTransportMode.RECORD)
    server.attach(None)
    print("listening", flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main(*sys.argv[1:])
