# SPDX-License-Identifier: MPL-2.0
"""The demo's yardstick, on runs that were made up."""
import hashlib
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] /
                       "tools" / "demo"))
import measure  # noqa: E402

HEADER = ("arrival_ns,pts_ns,dts_ns,bytes,flags,class,picture,key,depends,"
          "digest\n")
FRAME = 0.04


def frame(number, kind, digest=None, pts=None):
    classes = {"I": "key", "P": "reference", "B": "disposable"}
    dts = number * FRAME
    return {"dts": dts, "pts": dts if pts is None else pts, "sent": dts,
            "bytes": 1000, "class": classes[kind], "type": kind,
            "digest": digest or f"d{number}"}


def group(kinds):
    return [frame(i, kind) for i, kind in enumerate(kinds)]


class Yardstick(unittest.TestCase):
    def decodable(self, kinds, arrivals, latency=0.1):
        """Arrivals: delay by number; a frame that is not there has none."""
        frames = group(kinds)
        received = [(f"d{n}", frames[n]["sent"] + delay)
                    for n, delay in arrivals.items()]
        result = measure.evaluate(frames, received, latency)
        return frames, result

    def test_what_is_there_in_time_counts(self):
        frames, result = self.decodable("IPB", {0: 0.1, 1: 0.299, 2: 0.301})
        self.assertEqual([f["on_time"] for f in frames], [True, True, False])
        self.assertEqual(result["frames"]["all"],
                         {"sent": 3, "on_time": 2, "late": 1, "dropped": 0,
                          "decodable": 2})
        self.assertEqual(result["frames"]["B"]["late"], 1)

    def test_a_lost_reference_takes_the_rest_of_its_group_along(self):
        there = {n: 0.01 for n in (0, 2, 3, 4, 5)}
        frames, result = self.decodable("IPBPIB", there)
        self.assertEqual([f["decodable"] for f in frames],
                         [True, False, False, False, True, True])
        self.assertEqual(result["frames"]["all"]["on_time"], 5)
        self.assertEqual(result["frames"]["P"]["dropped"], 1)

    def test_a_late_reference_spoils_what_was_to_be_shown_before_it_came(self):
        # The limit is 0.3 s; P comes 0.4 s after it was sent at 0.04.
        frames, _ = self.decodable("IPBBBB", {0: 0.01, 1: 0.4, **{
            n: 0.01 for n in range(2, 6)}})
        self.assertEqual([f["decodable"] for f in frames],
                         [True, False, False, False, True, True])

    def test_a_lost_disposable_frame_is_harmless(self):
        frames, _ = self.decodable("IBP", {0: 0.01, 2: 0.01})
        self.assertEqual([f["decodable"] for f in frames],
                         [True, False, True])

    def test_frames_shown_before_a_key_frame_need_what_came_before(self):
        frames = [frame(0, "I"), frame(1, "P"), frame(2, "I", pts=0.2),
                  frame(3, "B", pts=0.16), frame(4, "B", pts=0.24)]
        received = [(f"d{n}", 0.01 + n * FRAME) for n in (0, 2, 3, 4)]
        measure.evaluate(frames, received, 0.1)
        self.assertEqual([f["decodable"] for f in frames],
                         [True, False, True, False, True])

    def test_what_the_headers_say_counts_more_than_the_order(self):
        frames = group("IPPB")  # the second P goes on from the key frame
        for f, depends in zip(frames, (0, 1, 2, 2)):
            f["depends"] = depends
        measure.evaluate(frames, [(f"d{n}", 0.1) for n in (0, 2, 3)], 0.1)
        self.assertEqual([f["decodable"] for f in frames],
                         [True, False, True, False])

    def test_nothing_at_all_is_zero_and_not_an_error(self):
        _, result = self.decodable("IPB", {})
        self.assertEqual(result["frames"]["all"]["dropped"], 3)
        self.assertEqual(result["goodput_bps"], 0)
        self.assertIsNone(result["delay_p50"])
        self.assertAlmostEqual(result["freeze"], 2 * FRAME)

    def test_equal_frames_match_in_order_and_strangers_are_ignored(self):
        frames = [frame(n, "I", digest="same") for n in range(3)]
        measure.match(frames, [("same", 1.0), ("stranger", 1.5),
                               ("same", 2.0)])
        self.assertEqual([f["arrival"] for f in frames], [1.0, 2.0, None])


class AtBest(unittest.TestCase):
    """Frames of 1000 bytes every 40 ms, in time within 0.3 s; so many of them
    a second."""

    def best(self, frames, rate):
        found = measure.at_best(frames, rate * 8000 / measure.HEADERS, 0.1)
        return [found[kind] for kind in measure.CLASSES]

    def test_where_all_that_is_needed_fits_the_smallest_others_fill_up(self):
        frames = group("IPBPBPBPB")
        self.assertEqual(self.best(frames, 25), [1, 4, 4])
        frames[2]["bytes"] = 1500
        self.assertEqual(self.best(frames, 7.1 / 0.42), [1, 4, 2])

    def test_a_chain_that_is_too_large_is_cut_for_the_next_key_frame(self):
        frames = group("IPPPPPPPPPIPPPPPPPPP")
        # Frame n of a chain is there after 0.1 (n + 1), and not too late when
        # that is not after 0.04 n + 0.3: the first four.  When six or more of
        # the first group are sent, the second is the later for it.
        self.assertEqual(self.best(frames, 10), [2, 6, 0])
        self.assertEqual(self.best(frames, 3.4), [2, 0, 0])
        self.assertEqual(self.best(frames, 3), [0, 0, 0])

    def test_what_is_late_may_be_of_use_for_what_follows(self):
        frames = group("IPPPPPPP")
        frames[0]["bytes"] = 11000
        self.assertEqual(self.best(frames, 40), [1, 7, 0])
        frames[1]["bytes"] = 4000  # with it the first three are late
        self.assertEqual(self.best(frames, 40), [1, 4, 0])

    def test_branches_go_before_the_trunk(self):
        frames = group("IPPBPPBPPB")  # every second P goes on from every third
        for f, depends in zip(frames, (0, 1, 1, 1, 3, 1, 1, 3, 1, 1)):
            f["depends"] = depends
        self.assertEqual(measure.trunk(frames, measure.parents(frames)),
                         [0, 1, 4, 7, 8])
        self.assertEqual(self.best(frames, 25), [1, 6, 3])
        self.assertEqual(self.best(frames, 5.1 / 0.46), [1, 4, 0])


class Logs(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, name, *lines):
        path = self.folder / name
        path.write_text(HEADER + "".join(line + "\n" for line in lines),
                        encoding="ascii")
        return path

    def test_the_schedule_counts_not_what_a_blocked_sink_made_of_it(self):
        log = self.write("sent", "1000000000,0,0,10,0,key,I,1,0,a",
                         "9000000000,40000000,40000000,10,0,reference,P,0,1,b")
        frames, start = measure.sent_frames(log)
        self.assertAlmostEqual(start, 1.0)
        self.assertAlmostEqual(frames[1]["sent"], 1.04)

    def test_half_a_line_and_headers_are_left_out(self):
        log = self.write("sent", "1000000000,0,0,10,0,key,I,1,0,a",
                         "1000000000,0,0,10,0,header,other,0,0,h",
                         "2000000000,400000")
        self.assertEqual(len(measure.sent_frames(log)[0]), 1)

    def test_buffers_marked_as_damaged_have_not_arrived(self):
        log = self.write("got", "1000000000,,,10,0,key,I,1,0,a",
                         "2000000000,,,10,100,key,I,1,0,b")
        self.assertEqual(list(measure.received_frames(log)), [("a", 1.0)])


def pes(payload):
    return b"\0\0\1\xe0\0\0\x80\x80\x05" + bytes(5) + payload


def packets(data, pid=0x41, counter=0):
    """A PES packet as transport stream packets, padded by adaptation."""
    out = []
    first = True
    while data:
        room = 184
        body, adaptation = data[:room], b""
        if len(body) < room:
            stuffing = room - len(body)
            adaptation = bytes([stuffing - 1]) + (
                b"\0" + b"\xff" * (stuffing - 2) if stuffing > 1 else b"")
        data = data[len(body):]
        control = (0x30 if adaptation else 0x10) | counter & 15
        out.append(bytes([0x47, (0x40 if first else 0) | pid >> 8, pid & 255,
                          control]) + adaptation + body)
        first = False
        counter += 1
    return out


class TransportStream(Logs):
    def setUp(self):
        super().setUp()
        slices = [b"\x65" + bytes([n + 1]) * 400 for n in range(3)]
        self.units = [b"\0\0\0\1\x09\xf0\0\0\0\1" + s for s in slices]
        self.names = [hashlib.md5(s).hexdigest() for s in slices]
        self.packets = [p for unit in self.units for p in packets(pes(unit))]

    def received(self, data, size):
        path = self.folder / "data"
        path.write_bytes(data)
        sizes = [size] * (len(data) // size)
        sizes += [len(data) % size] if len(data) % size else []
        log = self.write("chunks", *(f"{n + 1}000000000,,,{s},0,,,,,"
                                     for n, s in enumerate(sizes)))
        return list(measure.received_ts(log, path))

    def test_a_frame_arrives_with_its_last_packet(self):
        got = self.received(b"".join(self.packets), 188)
        self.assertEqual([name for name, _ in got], self.names)
        self.assertEqual([t for _, t in got], [3.0, 6.0, 9.0])

    def test_a_lost_packet_spoils_its_frame_alone(self):
        del self.packets[4]
        names = [name for name, _ in self.received(b"".join(self.packets),
                                                   1316)]
        self.assertEqual([n in names for n in self.names],
                         [True, False, True])

    def test_a_stream_out_of_step_is_found_again(self):
        data = b"junk" + b"".join(self.packets)
        names = [name for name, _ in self.received(data, 1000)]
        self.assertEqual(names, self.names)

    def test_other_programs_are_not_mixed_in(self):
        noise = packets(b"\0\0\1\xc0" + bytes(100), pid=0x100)[0]
        data = b"".join(p + noise for p in self.packets)
        self.assertEqual([n for n, _ in self.received(data, 376)], self.names)


if __name__ == "__main__":
    unittest.main()
