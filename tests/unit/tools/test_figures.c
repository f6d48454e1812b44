/* SPDX-License-Identifier: MPL-2.0 */
/* Statistics as JSON and as Prometheus' text, from one table. */
#include "tools/common/figures.h"

#include <stdlib.h>

#include "tests/support/cmocka.h"

enum { BYTES, RTT, DROPPED, STATE };

static const struct figure_def defs[] = {
    [BYTES] = {"bytes.sent", "sent_bytes_total", NULL, "Bytes sent.",
               FIGURE_COUNTER, 0, 1},
    [RTT] = {"rtt_ms", "rtt_seconds", NULL, "Round-trip time.", FIGURE_GAUGE, 3,
             0.001},
    [DROPPED] = {"frames.*.dropped", "frames_dropped_total", "kind",
                 "Frames dropped.", FIGURE_COUNTER, 0, 1},
    [STATE] = {"state", NULL, NULL, "In JSON alone.", FIGURE_GAUGE, 0, 1}};

static void fill(struct figures *f, double times) {
    figures_add(f, &defs[BYTES], NULL, 4e15 * times);
    figures_add(f, &defs[RTT], NULL, 12.5);
    figures_add(f, &defs[DROPPED], "I", 1 * times);
    figures_add(f, &defs[STATE], NULL, 7);
    figures_add(f, &defs[DROPPED], "P", 2 * times);
}

static char *text_of(const struct figures *f, size_t count) {
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    figures_text(out, "x_", f, count);
    assert_int_equal(fclose(out), 0);
    return text;
}

TEST(names_in_json_lead_into_objects) {
    struct figures f = {0};
    json_t *json = json_object();
    char *text;
    fill(&f, 1);
    figures_json(&f, json);
    text = json_dumps(json, JSON_COMPACT);
    assert_string_equal(text,
                        "{\"bytes\":{\"sent\":4000000000000000},"
                        "\"rtt_ms\":12.5,\"frames\":{\"I\":{\"dropped\":1},"
                        "\"P\":{\"dropped\":2}},\"state\":7}");
    free(text);
    json_decref(json);
}

TEST(all_of_a_kind_stand_below_one_head_in_base_units) {
    struct figures f = {0};
    char *text;
    fill(&f, 1);
    text = text_of(&f, 1);
    assert_string_equal(text, "# HELP x_sent_bytes_total Bytes sent.\n"
                              "# TYPE x_sent_bytes_total counter\n"
                              "x_sent_bytes_total 4e+15\n"
                              "# HELP x_rtt_seconds Round-trip time.\n"
                              "# TYPE x_rtt_seconds gauge\n"
                              "x_rtt_seconds 0.0125\n"
                              "# HELP x_frames_dropped_total Frames dropped.\n"
                              "# TYPE x_frames_dropped_total counter\n"
                              "x_frames_dropped_total{kind=\"I\"} 1\n"
                              "x_frames_dropped_total{kind=\"P\"} 2\n");
    free(text);
}

TEST(labels_tell_callers_apart_and_are_quoted) {
    struct figures f[2] = {0};
    char *text;
    figures_label(&f[0], "streamid", "a\"b\\c");
    figures_label(&f[0], "address", "127.0.0.1:9");
    figures_label(&f[1], "streamid", "line\nbreak");
    figures_add(&f[0], &defs[BYTES], NULL, 1);
    figures_add(&f[0], &defs[DROPPED], "I", 2);
    figures_add(&f[1], &defs[BYTES], NULL, 3);
    figures_add(&f[1], &defs[DROPPED], "I", 4);
    text = text_of(f, 2);
    assert_string_equal(
        text, "# HELP x_sent_bytes_total Bytes sent.\n"
              "# TYPE x_sent_bytes_total counter\n"
              "x_sent_bytes_total{streamid=\"a\\\"b\\\\c\","
              "address=\"127.0.0.1:9\"} 1\n"
              "x_sent_bytes_total{streamid=\"line?break\"} 3\n"
              "# HELP x_frames_dropped_total Frames dropped.\n"
              "# TYPE x_frames_dropped_total counter\n"
              "x_frames_dropped_total{streamid=\"a\\\"b\\\\c\","
              "address=\"127.0.0.1:9\",kind=\"I\"} 2\n"
              "x_frames_dropped_total{streamid=\"line?break\",kind=\"I\"} 4\n");
    free(text);
}

TEST(the_longest_label_leaves_the_line_whole) {
    struct figures f = {0};
    char longest[1000];
    char *text;
    memset(longest, '"', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    figures_label(&f, "streamid", longest);
    figures_label(&f, "address", "127.0.0.1:9");
    figures_add(&f, &defs[BYTES], NULL, 1);
    text = text_of(&f, 1);
    assert_non_null(strstr(text, "\\\"\",address=\"127.0.0.1:9\"} 1\n"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_in_json_lead_into_objects),
        cmocka_unit_test(all_of_a_kind_stand_below_one_head_in_base_units),
        cmocka_unit_test(labels_tell_callers_apart_and_are_quoted),
        cmocka_unit_test(the_longest_label_leaves_the_line_whole),
    };
    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
