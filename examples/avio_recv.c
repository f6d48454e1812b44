/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Accepts one caller and prints what libavformat reads from its transport
 * stream.
 *
 * usage: avio_recv PORT
 */
#include <inttypes.h>
#include <libavformat/avformat.h>
#include <netinet/in.h>
#include <stdio.h>
#include <tltcp/avio.h>

static int avio_recv_fail(const char *what, const char *why) {
    (void)fprintf(stderr, "avio_recv: %s: %s\n", what, why);
    return 1;
}

static tltcp_socket *take_caller(const char *port) {
    struct sockaddr_in6 at = {.sin6_family = AF_INET6};
    socklen_t len = sizeof(at);
    tltcp_socket *listener = NULL;
    tltcp_socket *s = NULL;
    int rc = tltcp_listen(&listener, "::1", port, NULL);
    if (rc == 0 &&
        tltcp_local_address(listener, (struct sockaddr *)&at, &len) == 0) {
        (void)printf("listening on ::1 %d\n", ntohs(at.sin6_port));
        (void)fflush(stdout);
        rc = tltcp_accept(listener, &s, -1);
    }
    (void)tltcp_close(listener, 0);
    if (rc != 0) {
        (void)avio_recv_fail("cannot listen", tltcp_strerror(rc));
    }
    return s;
}

static void print_packets(AVFormatContext *in) {
    AVPacket *packet = av_packet_alloc();
    while (packet && av_read_frame(in, packet) >= 0) {
        const AVStream *stream = in->streams[packet->stream_index];
        (void)printf("%s %.3f s %d bytes%s\n",
                     avcodec_get_name(stream->codecpar->codec_id),
                     (double)packet->pts * av_q2d(stream->time_base),
                     packet->size,
                     packet->flags & AV_PKT_FLAG_KEY ? " key" : "");
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
}

int main(int argc, char **argv) {
    tltcp_socket *s;
    AVIOContext *pb;
    AVFormatContext *in;
    if (argc != 2) {
        return avio_recv_fail("usage", "avio_recv PORT");
    }
    s = take_caller(argv[1]);
    pb = tltcp_avio_reader(s);
    in = avformat_alloc_context();
    if (!pb || !in) {
        avformat_free_context(in);
        (void)tltcp_avio_close(&pb, 0);
        return avio_recv_fail("no caller", "or no memory");
    }
    in->pb = pb;
    if (avformat_open_input(&in, NULL, NULL, NULL) < 0) {
        (void)tltcp_avio_close(&pb, 0);
        return avio_recv_fail("input", "no media that libavformat knows");
    }
    print_packets(in);
    avformat_close_input(&in);
    return tltcp_avio_close(&pb, 0) != 0;
}
