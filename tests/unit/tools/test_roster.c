/* SPDX-License-Identifier: MPL-2.0 */
/* Who may call, from a file of stream ids and passphrases. */
#include "tools/live-transmit/roster.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/cmocka.h"

#define RED "the passphrase of red"
#define BLUE "of blue, and of green"

static char path[] = "/tmp/roster-XXXXXX";
static char why[ROSTER_WHY_MAX];

static void write_file(const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static struct roster *read_text(const char *text) {
    struct roster *r;
    write_file(text);
    r = roster_read(path, why);
    assert_non_null(r);
    return r;
}

/* What speaks against a caller with that secret of the listener's. */
static const char *objection(struct roster *r, const char *stream_id,
                             unsigned secret) {
    const tltcp_caller caller = {.stream_id = stream_id, .secret = secret};
    return roster_objection(r, &caller);
}

static int make_file(void **state) {
    int fd = mkstemp(path);
    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

TEST(each_stream_has_its_passphrase) {
    tltcp_config c;
    struct roster *r = read_text("# ours\n\nred   " RED "\n\tblue " BLUE
                                 "\r\ngreen\t" BLUE "\n");
    tltcp_config_init(&c);
    assert_true(roster_has_secrets(r));
    roster_to_config(r, &c);
    assert_string_equal(c.passphrase, RED);
    assert_string_equal(c.listener.more_passphrases[0], BLUE);
    assert_null(c.listener.more_passphrases[1]);
    assert_null(objection(r, "red", 0));
    assert_null(objection(r, "blue", 1));
    assert_null(objection(r, "green", 1));
    assert_non_null(strstr(objection(r, "red", 1), "passphrase"));
    assert_non_null(strstr(objection(r, "green", 0), "passphrase"));
    assert_non_null(strstr(objection(r, "ours", 0), "no stream"));
    assert_non_null(strstr(objection(r, "", 0), "no stream"));
    roster_free(r);
}

TEST(streams_alone_leave_the_passphrases_to_others) {
    tltcp_config c;
    struct roster *r = read_text("red\nblue");
    tltcp_config_init(&c);
    assert_false(roster_has_secrets(r));
    roster_to_config(r, &c);
    assert_null(c.passphrase);
    assert_null(c.listener.more_passphrases);
    assert_null(objection(r, "red", 3));
    assert_non_null(objection(r, "green", 0));
    roster_free(r);
}

TEST(one_caller_at_a_time_has_a_stream) {
    struct roster *r = read_text("red " RED "\nblue " BLUE "\n");
    assert_null(roster_enter(r, "red"));
    assert_non_null(strstr(roster_enter(r, "red"), "busy"));
    assert_non_null(strstr(objection(r, "red", 0), "busy"));
    assert_null(roster_enter(r, "blue"));
    roster_leave(r, "red");
    assert_null(objection(r, "red", 0));
    assert_null(roster_enter(r, "red"));
    assert_non_null(strstr(roster_enter(r, "green"), "no stream"));
    roster_leave(r, "green");
    roster_free(r);
}

TEST(streams_come_and_go_when_the_file_is_read_again) {
    struct roster *r = read_text("red " RED "\nblue " BLUE "\n");
    assert_null(roster_enter(r, "blue"));
    write_file("green " RED "\nblue " BLUE "\n");
    assert_true(roster_reread(r, why));
    assert_false(roster_has(r, "red"));
    assert_null(objection(r, "green", 0));
    assert_non_null(strstr(roster_enter(r, "blue"), "busy"));
    write_file("blue " RED "\n");
    assert_true(roster_reread(r, why));
    roster_leave(r, "blue");
    assert_null(objection(r, "blue", 0));
    assert_non_null(objection(r, "blue", 1));
    roster_free(r);
}

TEST(what_the_listener_cannot_learn_changes_nothing) {
    static const char *const texts[] = {"red a new passphrase\n", "red\n",
                                        "red " RED "\nred " RED "\n"};
    struct roster *r = read_text("red " RED "\nblue " BLUE "\n");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        write_file(texts[i]);
        assert_false(roster_reread(r, why));
        assert_non_null(strstr(why, path));
        assert_true(roster_has(r, "blue"));
    }
    write_file("");
    assert_true(roster_reread(r, why));
    assert_false(roster_has(r, "red"));
    roster_free(r);
}

#define KEY_1 "0101010101010101010101010101010101010101010101010101010101010101"
#define KEY_2 "0202020202020202020202020202020202020202020202020202020202020202"

static const char *objection_to_key(struct roster *r, const char *stream_id,
                                    int number) {
    uint8_t key[32];
    const tltcp_caller caller = {.stream_id = stream_id,
                                 .identity = number == 0 ? NULL : key};
    memset(key, number, sizeof(key));
    return roster_objection(r, &caller);
}

TEST(each_stream_has_its_static_key) {
    tltcp_config c;
    struct roster *r = read_text("red key:" KEY_1 "\nblue key:" KEY_2 "\n");
    tltcp_config_init(&c);
    assert_true(roster_has_keys(r));
    assert_false(roster_has_secrets(r));
    assert_null(objection_to_key(r, "red", 1));
    assert_null(objection_to_key(r, "blue", 2));
    assert_non_null(strstr(objection_to_key(r, "red", 2), "static key"));
    assert_non_null(strstr(objection_to_key(r, "blue", 0), "static key"));
    assert_non_null(strstr(objection_to_key(r, "green", 1), "no stream"));
    roster_free(r);
}

TEST(a_static_key_is_revoked_when_the_file_is_read_again) {
    struct roster *r = read_text("red key:" KEY_1 "\nblue key:" KEY_2 "\n");
    assert_null(roster_enter(r, "red"));
    assert_null(roster_enter(r, "blue"));
    write_file("red key:" KEY_2 "\nblue key:" KEY_2 "\ngreen key:" KEY_1 "\n");
    assert_true(roster_reread(r, why));
    assert_false(roster_has(r, "red")); /* whoever is there is cut off */
    assert_true(roster_has(r, "blue"));
    roster_leave(r, "red");
    assert_non_null(objection_to_key(r, "red", 1));
    assert_null(objection_to_key(r, "red", 2));
    assert_null(objection_to_key(r, "green", 1));
    assert_null(roster_enter(r, "red"));
    assert_true(roster_has(r, "red"));
    write_file("red " RED "\n");
    assert_false(roster_reread(r, why)); /* the listener goes on by keys */
    roster_free(r);
}

TEST(a_file_that_cannot_be_meant_is_refused_with_its_line) {
    static const struct {
        const char *text;
        const char *line;
        const char *word;
    } cases[] = {
        {"red short", "line 1", "8 to 512"},
        {"red " RED "\nred " BLUE, "line 2", "earlier line"},
        {"red " RED "\n\nblue\n", "line 3", "missing"},
        {"red\nblue " BLUE, "line 2", "none has"},
        {"red key:" KEY_1 "\nblue\n", "line 2", "none has"},
        {"red " RED "\nblue key:" KEY_1, "line 2", "none has"},
        {"red key:01\n", "line 1", "64 hexadecimal"},
    };
    char long_id[600];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_file(cases[i].text);
        assert_null(roster_read(path, why));
        assert_non_null(strstr(why, cases[i].line));
        assert_non_null(strstr(why, cases[i].word));
        assert_null(strstr(why, RED));
    }
    memset(long_id, 'x', sizeof(long_id) - 1);
    long_id[sizeof(long_id) - 1] = '\0';
    write_file(long_id);
    assert_null(roster_read(path, why));
    assert_non_null(strstr(why, "512 bytes"));
    assert_null(roster_read("/nonexistent/callers", why));
    assert_non_null(strstr(why, "/nonexistent/callers"));
}

TEST(there_may_be_as_many_passphrases_as_a_listener_takes) {
    char text[1024] = "";
    for (int i = 0; i < 17; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof(text) - used, "s%d passphrase %d\n",
                       i, i % 16);
    }
    roster_free(read_text(text));
    strcat(text, "more passphrase 17\n");
    write_file(text);
    assert_null(roster_read(path, why));
    assert_non_null(strstr(why, "line 18: at most 16"));
}

TEST(a_folder_is_not_a_list_without_callers) {
    assert_null(roster_read("/tmp", why));
    assert_non_null(strstr(why, "/tmp: "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stream_has_its_passphrase),
        cmocka_unit_test(streams_alone_leave_the_passphrases_to_others),
        cmocka_unit_test(one_caller_at_a_time_has_a_stream),
        cmocka_unit_test(streams_come_and_go_when_the_file_is_read_again),
        cmocka_unit_test(what_the_listener_cannot_learn_changes_nothing),
        cmocka_unit_test(each_stream_has_its_static_key),
        cmocka_unit_test(a_static_key_is_revoked_when_the_file_is_read_again),
        cmocka_unit_test(a_file_that_cannot_be_meant_is_refused_with_its_line),
        cmocka_unit_test(there_may_be_as_many_passphrases_as_a_listener_takes),
        cmocka_unit_test(a_folder_is_not_a_list_without_callers),
    };
    return cmocka_run_group_tests_name("roster", tests, make_file, remove_file);
}
