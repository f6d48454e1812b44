/* SPDX-License-Identifier: MPL-2.0 */
/* URLs of live streams. */
#include <stdio.h>
#include <string.h>

#include "tests/support/cmocka.h"
#include "tltcp/live.h"

static char why[TLTCP_LIVE_WHY_MAX];

static tltcp_live_options *options(const char *url) {
    tltcp_live_options *o = tltcp_live_options_new();
    assert_non_null(o);
    assert_int_equal(tltcp_live_options_set_url(o, url, why), 0);
    return o;
}

static void refuse(const char *url, const char *cause) {
    tltcp_live_options *o = tltcp_live_options_new();
    assert_int_equal(tltcp_live_options_set_url(o, url, why), TLTCP_ERR_INVAL);
    if (!strstr(why, cause)) {
        fail_msg("%s: %s", url, why);
    }
    tltcp_live_options_free(o);
}

TEST(a_url_names_the_peer_and_its_options) {
    tltcp_live_options *o = options(
        "tltcp://[::1]:7001?latency=1s&streamid=cam%201&max-rate=4mbit&fec=off"
        "&drop-policy=until-keyframe&auto-reconnect=no&deadline-mode=gop");
    tltcp_live_settings *s = tltcp_live_options_settings(o);
    tltcp_config *c = tltcp_live_options_config(o);
    assert_string_equal(s->host, "::1");
    assert_string_equal(s->service, "7001");
    assert_false(s->listens);
    assert_false(s->reconnect);
    assert_int_equal(s->latency_ms, 1000);
    assert_int_equal(s->deadline_mode, TLTCP_LIVE_DEADLINE_GOP);
    assert_string_equal(c->stream_id, "cam 1");
    assert_int_equal(c->max_rate, 4000000);
    assert_int_equal(c->fec, TLTCP_FEC_OFF);
    assert_int_equal(c->drop_policy, TLTCP_DROP_UNTIL_KEY);
    tltcp_live_options_free(o);
}

static void expect_transport(const char *url, int transport) {
    tltcp_live_options *o = options(url);
    assert_int_equal(tltcp_live_options_config(o)->io.transport, transport);
    tltcp_live_options_free(o);
}

TEST(a_url_names_the_threads_of_a_listener) {
    tltcp_live_options *o = options("tltcp://:7001?threads=64");
    assert_int_equal(tltcp_live_options_config(o)->io.threads, 64);
    tltcp_live_options_free(o);
    o = options("tltcp://:7001");
    assert_int_equal(tltcp_live_options_config(o)->io.threads, 1);
    tltcp_live_options_free(o);
    refuse("tltcp://:7001?threads=0", "must be a number from 1 to 64");
    refuse("tltcp://:7001?threads=65", "must be a number from 1 to 64");
    refuse("tltcp://:7001?threads=two", "must be a number from 1 to 64");
}

TEST(threads_that_the_transport_cannot_use_are_refused) {
    tltcp_live_options *o = options("tltcp+tcp://:7001?threads=2");
    assert_int_equal(tltcp_live_options_check(o, why), TLTCP_ERR_UNSUPPORTED);
    assert_string_equal(why, "several I/O threads need UDP");
    tltcp_live_options_free(o);
}

TEST(a_url_names_the_transport) {
    expect_transport("tltcp://h:1", TLTCP_TRANSPORT_UDP);
    expect_transport("tltcp+tcp://h:1", TLTCP_TRANSPORT_TCP);
    expect_transport("TLTCP+TCP://:7001?latency=1s", TLTCP_TRANSPORT_TCP);
    expect_transport("tltcp://h:1?transport=auto", TLTCP_TRANSPORT_AUTO);
    expect_transport("tltcp://h:1?transport=tcp", TLTCP_TRANSPORT_TCP);
    refuse("tltcp://h:1?transport=sctp", "must be udp, auto or tcp");
    refuse("tltcp+udp://h:1", "a URL must begin with tltcp://");
}

TEST(a_url_without_a_host_listens) {
    tltcp_live_options *o = options("tltcp://:7001");
    assert_true(tltcp_live_options_settings(o)->listens);
    tltcp_live_options_free(o);
    o = options("tltcp://127.0.0.1:0?mode=listener");
    assert_true(tltcp_live_options_settings(o)->listens);
    tltcp_live_options_free(o);
}

TEST(every_key_of_the_elements_is_known) {
    static const char *const keys[][2] = {{"localport", "0"},
                                          {"localaddress", "127.0.0.1"},
                                          {"latency", "125"},
                                          {"passphrase", "long enough"},
                                          {"congestion-control", "reno"},
                                          {"qos-dscp", "34"},
                                          {"wait-for-connection", "true"},
                                          {"reference-grace", "500"},
                                          {"max-send-bitrate", "1000000"},
                                          {"initial-window", "10"},
                                          {"force-key-unit", "false"},
                                          {"keep-listening", "true"},
                                          {"output", "partial"},
                                          {"delivery", "timed"},
                                          {"drop-until-keyframe", "true"},
                                          {"encoder", "auto"},
                                          {"encoder-min-bitrate", "100000"},
                                          {"encoder-max-bitrate", "4000000"}};
    tltcp_live_options *o = tltcp_live_options_new();
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        assert_int_equal(tltcp_live_options_set(o, keys[i][0], keys[i][1], why),
                         0);
    }
    tltcp_live_options_free(o);
}

TEST(what_is_wrong_with_a_url_is_named) {
    refuse("udp://127.0.0.1:7001", "tltcp://");
    refuse("tltcp://127.0.0.1", "port");
    refuse("tltcp://127.0.0.1:70000", "0 to 65535");
    refuse("tltcp://::1:7001", "[ADDRESS]");
    refuse("tltcp://[::1]", "port");
    refuse("tltcp://127.0.0.1:7001/path", "path");
    refuse("tltcp://127.0.0.1:7001?latency=soon", "latency=soon");
    refuse("tltcp://127.0.0.1:7001?latency=0", "latency=0");
    refuse("tltcp://127.0.0.1:7001?latency=0", "1 to 86400000");
    refuse("tltcp://127.0.0.1:7001?latency=0.4", "1 to 86400000");
    refuse("tltcp://127.0.0.1:7001?latency", "KEY=VALUE");
    refuse("tltcp://127.0.0.1:7001?no-such=1", "no-such");
    refuse("tltcp://127.0.0.1:7001?streamid=%zz", "escaped");
    refuse("tltcp://:7001?mode=caller", "host");
    refuse("tltcp://127.0.0.1:0", "0");
    refuse("tltcp://239.1.1.1:7001", "multicast");
    refuse("tltcp://239.1.1.1:7001?mode=listener", "multicast");
    refuse("tltcp://[ff02::1%25lo]:7001", "mode=listener");
}

TEST(a_secret_in_a_url_is_not_repeated) {
    char url[700] = "tltcp://127.0.0.1:7001?passphrase=";
    memset(url + strlen(url), 's', 600);
    refuse(url, "passphrase=***");
}

static int collect(void *user, const char *key, const char *value,
                   char *wrong) {
    if (strcmp(key, "bad") == 0) {
        (void)snprintf(wrong, TLTCP_LIVE_WHY_MAX, "no such key");
        return TLTCP_ERR_INVAL;
    }
    (void)strcat(strcat(strcat(strcat(user, key), "="), value), ";");
    return 0;
}

TEST(urls_give_host_port_and_decoded_keys) {
    static const char url[] = "udp://[::1]:5000/?latency=200&&streamid=a%26b&";
    tltcp_live_url u;
    char keys[256] = "";
    assert_int_equal(
        tltcp_live_url_parse(&u, url, "udp://", collect, keys, why), 0);
    assert_string_equal(u.host, "::1");
    assert_string_equal(u.port, "5000");
    assert_false(u.listens);
    assert_string_equal(keys, "latency=200;streamid=a&b;");
}

TEST(the_zone_of_an_address_may_be_escaped_and_a_scheme_in_capitals) {
    static const char *const rows[][2] = {
        {"tltcp://[fe80::1%25eth0]:1", "fe80::1%eth0"},
        {"TLTCP://[fe80::1%eth0]:1", "fe80::1%eth0"},
        {"tltcp://[fe80::1%25]:1", "fe80::1%25"},   /* interface 25, ... */
        {"tltcp://[fe80::1%2525]:1", "fe80::1%25"}, /* ... escaped */
        {"tltcp://[fe80::1%253]:1", "fe80::1%3"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        tltcp_live_url u;
        assert_int_equal(
            tltcp_live_url_parse(&u, rows[i][0], "tltcp://", NULL, NULL, why),
            0);
        assert_string_equal(u.host, rows[i][1]);
    }
}

TEST(wrong_urls_say_why) {
    static const char *const wrong[][2] = {
        {"srt://host:1", "tltcp://"},
        {"tltcp://host", "port"},
        {"tltcp://host:99999", "port"},
        {"tltcp://host:00000000080", "port"},
        {"tltcp://user@host:1", "user"},
        {"tltcp://host:1/path", "path"},
        {"tltcp://host:1?x", "KEY=VALUE"},
        {"tltcp://host:1?x=%4", "escaped"},
        {"tltcp://host:1?x=%00", "escaped"},
        {"tltcp://host:1?bad=1", "no such key"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        tltcp_live_url u;
        char keys[256] = "";
        assert_int_equal(tltcp_live_url_parse(&u, wrong[i][0], "tltcp://",
                                              collect, keys, why),
                         TLTCP_ERR_INVAL);
        assert_non_null(strstr(why, wrong[i][1]));
    }
}

TEST(a_listener_needs_no_host) {
    tltcp_live_url u;
    assert_int_equal(
        tltcp_live_url_parse(&u, "tltcp://:5000", "tltcp://", NULL, NULL, why),
        0);
    assert_string_equal(u.host, "");
    assert_true(u.listens);
    assert_int_equal(tltcp_live_url_check(&u, why), 0);
}

TEST(passphrases_in_a_url_can_be_hidden) {
    char url[] = "tltcp://h:1?passphrase=secret&latency=5";
    tltcp_live_url_hide(url);
    assert_string_equal(url, "tltcp://h:1?passphrase=******&latency=5");
}

/* --- Frames --------------------------------------------------------------- */

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_names_the_peer_and_its_options),
        cmocka_unit_test(a_url_names_the_threads_of_a_listener),
        cmocka_unit_test(threads_that_the_transport_cannot_use_are_refused),
        cmocka_unit_test(a_url_names_the_transport),
        cmocka_unit_test(a_url_without_a_host_listens),
        cmocka_unit_test(every_key_of_the_elements_is_known),
        cmocka_unit_test(what_is_wrong_with_a_url_is_named),
        cmocka_unit_test(a_secret_in_a_url_is_not_repeated),
        cmocka_unit_test(urls_give_host_port_and_decoded_keys),
        cmocka_unit_test(
            the_zone_of_an_address_may_be_escaped_and_a_scheme_in_capitals),
        cmocka_unit_test(wrong_urls_say_why),
        cmocka_unit_test(a_listener_needs_no_host),
        cmocka_unit_test(passphrases_in_a_url_can_be_hidden),
    };
    return cmocka_run_group_tests_name("live_url", tests, NULL, NULL);
}
