/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Sends the video and audio of a file, at its own speed, as a transport stream
 * that libavformat writes through TLTCP.
 *
 * usage: avio_send FILE HOST PORT [LATENCY_MS]
 */
#include <libavformat/avformat.h>
#include <libavutil/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <tltcp/avio.h>

#define LATENCY_MS 200

static int avio_send_fail(const char *what, const char *why) {
    (void)fprintf(stderr, "avio_send: %s: %s\n", what, why);
    return 1;
}

static int fail_av(const char *what, int error) {
    char why[AV_ERROR_MAX_STRING_SIZE] = "";
    (void)av_strerror(error, why, sizeof(why));
    return avio_send_fail(what, why);
}

/* A transport stream with the same streams as the file. */
static AVFormatContext *like(const AVFormatContext *in, AVIOContext *pb) {
    AVFormatContext *out = NULL;
    if (avformat_alloc_output_context2(&out, NULL, "mpegts", NULL) < 0) {
        return NULL;
    }
    out->pb = pb;
    out->flags |= AVFMT_FLAG_FLUSH_PACKETS; /* each packet at once */
    for (unsigned i = 0; i < in->nb_streams; i++) {
        AVStream *stream = avformat_new_stream(out, NULL);
        if (!stream || avcodec_parameters_copy(stream->codecpar,
                                               in->streams[i]->codecpar) < 0) {
            avformat_free_context(out);
            return NULL;
        }
        stream->codecpar->codec_tag = 0;
    }
    return out;
}

/* Waits until the decoding time of a packet. */
static void pace(const AVPacket *packet, AVRational base, int64_t *start) {
    int64_t now = av_gettime_relative();
    int64_t due;
    if (packet->dts == AV_NOPTS_VALUE) {
        return;
    }
    due = av_rescale_q(packet->dts, base, (AVRational){1, 1000000});
    *start = *start == INT64_MIN ? now - due : *start;
    if (*start + due > now) {
        (void)av_usleep((unsigned)(*start + due - now));
    }
}

static int copy(AVFormatContext *in, AVFormatContext *out) {
    AVPacket *packet = av_packet_alloc();
    int64_t start = INT64_MIN;
    int rc = packet ? avformat_write_header(out, NULL) : AVERROR(ENOMEM);
    while (rc >= 0 && (rc = av_read_frame(in, packet)) >= 0) {
        AVRational from = in->streams[packet->stream_index]->time_base;
        AVRational to = out->streams[packet->stream_index]->time_base;
        pace(packet, from, &start);
        av_packet_rescale_ts(packet, from, to);
        rc = av_interleaved_write_frame(out, packet);
    }
    av_packet_free(&packet);
    return rc == AVERROR_EOF ? av_write_trailer(out) : rc;
}

static int send_file(AVFormatContext *in, AVIOContext **pb) {
    AVFormatContext *out = like(in, *pb);
    int rc = out ? copy(in, out) : AVERROR(ENOMEM);
    avformat_free_context(out);
    if (tltcp_avio_close(pb, 2000) != 0 && rc >= 0) {
        rc = AVERROR(EPIPE);
    }
    return rc < 0 ? fail_av("cannot send", rc) : 0;
}

static AVIOContext *call(const char *host, const char *port,
                         uint32_t latency_ms) {
    tltcp_config config;
    tltcp_socket *s;
    int rc;
    tltcp_config_init(&config);
    config.report_fates = true; /* dependents of a lost picture are not sent */
    rc = tltcp_connect(&s, host, port, &config, -1);
    if (rc != 0) {
        (void)avio_send_fail("cannot connect", tltcp_strerror(rc));
        return NULL;
    }
    return tltcp_avio_writer(s, latency_ms);
}

int main(int argc, char **argv) {
    AVFormatContext *in = NULL;
    AVIOContext *pb;
    uint32_t latency_ms = LATENCY_MS;
    int rc;
    if (argc != 4 && argc != 5) {
        return avio_send_fail("usage", "avio_send FILE HOST PORT [LATENCY_MS]");
    }
    if (argc == 5) {
        latency_ms = (uint32_t)strtoul(argv[4], NULL, 10);
    }
    rc = avformat_open_input(&in, argv[1], NULL, NULL);
    if (rc >= 0) {
        rc = avformat_find_stream_info(in, NULL);
    }
    if (rc < 0) {
        avformat_close_input(&in);
        return fail_av(argv[1], rc);
    }
    pb = call(argv[2], argv[3], latency_ms);
    rc = pb ? send_file(in, &pb) : 1;
    avformat_close_input(&in);
    return rc;
}
