# SPDX-License-Identifier: MPL-2.0
# What elements and tools share about media.
foreach(part assemble caps chain deadline frame framing gate h264_refs h265_refs params
        parts playout reftrack rtp sequence timemap ts tstrack)
    perigee_unit_test(media_${part}
        SOURCES media/test_${part}.c LINK perigee_media)
endforeach()
