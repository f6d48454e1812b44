# SPDX-License-Identifier: MPL-2.0
"""Connections on loopback."""
import asyncio
import contextlib

import perigee
import pytest

ANY = "tltcp://127.0.0.1:0?mode=listener"


def url(listener, more=""):
    return f"tltcp://127.0.0.1:{listener.port}{more}"


@contextlib.asynccontextmanager
async def pair(**options):
    async with perigee.listen(ANY, **options) as listener:
        async with perigee.connect(url(listener), **options) as caller:
            async with await listener.accept() as callee:
                yield caller, callee


async def test_frames_arrive_whole_and_in_order():
    frames = [bytes([i]) * (1 + 3000 * i) for i in range(50)]
    async with pair() as (caller, callee):
        for frame in frames:
            await caller.send(frame, deadline=perigee.NEVER)
        caller.finish()
        assert [frame.data async for frame in callee] == frames
        assert await callee.recv() is None


async def test_class_stream_and_tag_reach_the_receiver():
    async with pair() as (caller, callee):
        await caller.send(b"key", klass=perigee.Class.KEY, stream=3, tag=77)
        frame = await callee.recv()
        assert (frame.klass, frame.stream, frame.tag, frame.complete) == (
            perigee.Class.KEY, 3, 77, True)


async def test_many_small_frames_go_in_one_call():
    frames = [bytes([i % 256]) * (1 + i % 1400) for i in range(20000)]
    async with pair() as (caller, callee):
        sending = asyncio.create_task(caller.send_many(
            frames, deadline=perigee.NEVER, klass=perigee.Class.AUDIO, tag=5))
        got = [await callee.recv() for _ in frames]
        await sending
        assert [frame.data for frame in got] == frames
        assert {(f.klass, f.tag, f.complete) for f in got} == {
            (perigee.Class.AUDIO, 5, True)}
        assert [frame.number for frame in got] == list(range(20000))
        await caller.send_many([])
        with pytest.raises(ValueError):
            await caller.send_many([b"x", b""])
        await caller.send(b"last")
        caller.finish()
        assert [frame.data async for frame in callee] == [b"last"]


async def test_one_call_into_c_brings_many_frames(monkeypatch):
    fills = []
    fill = perigee.Stream._fill
    monkeypatch.setattr(perigee.Stream, "_fill", lambda stream: (
        fills.append(stream), fill(stream))[1])
    async with pair() as (caller, callee):
        await caller.send_many([b"x" * 100] * 640, deadline=perigee.NEVER)
        while callee.stats().bytes_received < 640 * 100:
            await asyncio.sleep(0)
        for _ in range(640):
            await callee.recv()
    assert len(fills) <= 20  # 64 at once


async def test_frames_larger_than_all_room_come_among_small_ones():
    sizes = [1, 300_000, 2, 262_144, 262_143, 3, 5_000_000, 4]
    async with pair() as (caller, callee):
        sending = asyncio.create_task(caller.send_many(
            (bytes([i]) * size for i, size in enumerate(sizes)),
            deadline=perigee.NEVER))
        for i, size in enumerate(sizes):
            assert (await callee.recv()).data == bytes([i]) * size
        await sending


async def test_what_came_before_the_end_is_received():
    async with pair() as (caller, callee):
        await caller.send_many([b"a", b"b"], deadline=perigee.NEVER)
        caller.finish()
        assert (await callee.recv()).data == b"a"
        assert (await callee.recv()).data == b"b"
        assert await callee.recv() is None
        assert await callee.recv() is None


async def test_both_sides_send():
    async with pair() as (caller, callee):
        await asyncio.gather(caller.send(b"there"), callee.send(b"back"))
        assert (await callee.recv()).data == b"there"
        assert (await caller.recv()).data == b"back"


async def test_what_is_late_is_never_sent_and_its_fate_is_told():
    async with pair(fates=True) as (caller, callee):
        await caller.send(b"late", deadline=0, tag=1)
        await caller.send(b"in time", deadline=perigee.NEVER, tag=2)
        fates = {}
        async for event in caller.events():
            if isinstance(event, perigee.SectionEvent):
                fates[event.tag] = event
            if len(fates) == 2:
                break
        assert fates[1].fate == perigee.Fate.UNSENT
        assert fates[1].cause == "deadline"
        assert fates[2].fate == perigee.Fate.DELIVERED
        gap = await callee.recv()
        assert isinstance(gap, perigee.Gap) and gap.missing == 4
        assert (await callee.recv()).data == b"in time"


async def test_statistics_count():
    async with pair() as (caller, callee):
        for _ in range(10):
            await caller.send(b"x" * 5000, deadline=perigee.NEVER)
        for _ in range(10):
            await callee.recv()
        sent, received = caller.stats(), callee.stats()
        assert sent.sections_offered == 10
        assert sent.bytes_offered == 50000
        assert received.sections_complete == 10
        assert received.bytes_read == 50000
        assert sent.congestion != ""


async def test_a_slow_reader_holds_the_sender_back():
    size = 1 << 20
    async with pair() as (caller, callee):
        async def send():
            for _ in range(200):
                await caller.send(bytes(size), deadline=perigee.NEVER)
            caller.finish()

        sending = asyncio.create_task(send())
        assert sum([len(frame.data) async for frame in callee]) == 200 * size
        await sending


async def test_many_callers_are_distinguished_by_stream_id():
    async with perigee.listen(ANY) as listener:
        callers = await asyncio.gather(*(
            perigee.connect(url(listener), streamid=f"camera {i}")
            for i in range(20)))
        streams = [await listener.accept() for _ in callers]
        for caller in callers:
            await caller.send(b"here")
        seen = set()
        for stream in streams:
            assert (await stream.recv()).data == b"here"
            seen.add(stream.stream_id)
        assert seen == {f"camera {i}" for i in range(20)}
        for stream in callers + streams:
            await stream.close()


async def test_a_secured_connection_carries_frames():
    async with pair(passphrase="correct horse") as (caller, callee):
        await caller.send(b"secret")
        assert (await callee.recv()).data == b"secret"


async def test_a_wrong_passphrase_is_named():
    async with perigee.listen(ANY, passphrase="correct horse") as listener:
        with pytest.raises(perigee.AuthError, match="passphrase"):
            await perigee.connect(url(listener), passphrase="wrong horse")


async def test_a_port_without_listener_refuses():
    async with perigee.listen(ANY) as listener:
        port = listener.port
    with pytest.raises(perigee.Refused):
        await perigee.connect(f"tltcp://127.0.0.1:{port}",
                              connect_timeout=2000)


async def test_a_rejected_caller_gets_the_reason():
    async with perigee.listen(ANY) as listener:
        async with perigee.connect(url(listener)) as caller:
            (await listener.accept()).reject("no camera of that name")
            with pytest.raises(perigee.Refused) as caught:
                await caller.recv()
            assert caught.value.reason == "no camera of that name"


async def test_a_taken_port_is_named():
    async with perigee.listen(ANY) as listener:
        with pytest.raises(perigee.AddressInUse):
            await perigee.listen(url(listener, "?mode=listener"))


async def test_an_unknown_name_is_an_address_error():
    with pytest.raises(perigee.AddressError):
        await perigee.connect("tltcp://no-such-host.invalid:5000")


@pytest.mark.parametrize("wrong, told", [
    ("srt://host:1", "must begin with tltcp://"),
    ("tltcp://host", "port is missing"),
    ("tltcp://host:99999", "port must be"),
    ("tltcp://host:1?latncy=5", "latncy"),
    ("tltcp://host:1?latency=soon", "latency"),
    ("tltcp://:5000", "listen"),
    ("tltcp://host:1?streamid=a\0b", "zero octet"),
    ("tltcp://\udc80:1", "character"),
])
def test_a_wrong_url_is_refused_with_the_cause(wrong, told):
    with pytest.raises(perigee.OptionError, match=told):
        perigee.connect(wrong)


def test_a_listener_is_told_how_its_url_is_written():
    with pytest.raises(perigee.OptionError, match=r"\?mode=listener"):
        perigee.listen("tltcp://127.0.0.1:5000")


@pytest.mark.parametrize("options, told", [
    ({"passphrase": "tellnobody\0more"}, "passphrase: .* zero octet"),
    ({"streamid": "a\0b"}, "streamid: .* zero octet"),
    ({"latency\0": 5}, "zero octet"),
    ({"streamid": "\ud800"}, "streamid: .* character"),
])
def test_an_option_with_a_zero_octet_is_refused(options, told):
    with pytest.raises(perigee.OptionError, match=told) as caught:
        perigee.connect("tltcp://host:1", **options)
    assert "tellnobody" not in str(caught.value)


def test_an_option_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="colour"):
        perigee.connect("tltcp://host:1", colour="red")


async def test_a_secret_in_a_url_is_in_no_message():
    with pytest.raises(perigee.Error) as caught:
        await perigee.connect("tltcp://127.0.0.1:9?passphrase=tellnobody"
                              "&connect-timeout=500")
    assert "tellnobody" not in str(caught.value)


async def test_a_peer_that_gave_up_is_reported():
    async with perigee.listen(ANY) as listener:
        caller = await perigee.connect(url(listener))
        async with await listener.accept() as callee:
            await caller.send(b"x" * 100000, deadline=perigee.NEVER)
            await caller.close(0)
            with pytest.raises(perigee.Closed):
                while await callee.recv() is not None:
                    pass


async def test_a_cancelled_receive_leaves_the_stream_usable():
    async with pair() as (caller, callee):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(callee.recv(), 0.05)
        await caller.send(b"after")
        assert (await callee.recv()).data == b"after"


async def test_two_tasks_cannot_receive_at_once():
    async with pair() as (_, callee):
        first = asyncio.create_task(callee.recv())
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError):
            await callee.recv()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)


async def test_a_cancelled_call_leaves_nothing_behind():
    async with perigee.listen(ANY, passphrase="correct horse"):
        call = asyncio.create_task(perigee.connect("tltcp://192.0.2.1:9")
                                   .__aenter__())
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises((asyncio.CancelledError, perigee.Error)):
            await call


async def test_use_after_close_is_an_error():
    async with pair() as (caller, _):
        pass
    with pytest.raises(perigee.Closed):
        await caller.send(b"late")
    with pytest.raises(perigee.Closed):
        caller.stats()


async def test_a_stream_that_was_forgotten_is_closed_with_a_warning():
    async with perigee.listen(ANY) as listener:
        caller = await perigee.connect(url(listener))
        async with await listener.accept():
            with pytest.warns(ResourceWarning, match="never closed"):
                del caller


async def test_lingering_may_last_for_ever():
    async with pair(linger=perigee.NEVER) as (caller, callee):
        await caller.send(b"x" * 100000, deadline=perigee.NEVER)
        await caller.close()
        assert [len(frame.data) async for frame in callee] == [100000]


async def test_a_call_that_fails_keeps_the_connection():
    async with pair() as (caller, callee):
        with pytest.raises(ValueError):
            await caller.close(float("nan"))
        with pytest.raises(ValueError):
            callee.reject("a\0b")
        with pytest.raises(ValueError):
            callee.reject("\ud800")
        await caller.send(b"x")
        assert (await callee.recv()).data == b"x"
