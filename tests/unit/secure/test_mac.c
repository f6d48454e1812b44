/* SPDX-License-Identifier: MPL-2.0 */
/* HMAC-SHA-256, by vectors of RFC 4231, whose keys are padded with zeros. */
#include <string.h>

#include "internal/secure/mac.h"
#include "tests/support/cmocka.h"

static const uint8_t jefe[SEC__MAC_KEY_LEN] = {'J', 'e', 'f', 'e'};
static const char question[] = "what do ya want for nothing?";
static const uint8_t answer[SEC__MAC_LEN] = {
    0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24,
    0x26, 0x08, 0x95, 0x75, 0xc7, 0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27,
    0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43};
static const uint8_t hi_there[SEC__MAC_LEN] = {
    0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8, 0xaf,
    0xce, 0xaf, 0x0b, 0xf1, 0x2b, 0x88, 0x1d, 0xc2, 0x00, 0xc9, 0x83,
    0x3d, 0xa7, 0x26, 0xe9, 0x37, 0x6c, 0x2e, 0x32, 0xcf, 0xf7};

TEST(the_published_vectors_come_out) {
    uint8_t key[SEC__MAC_KEY_LEN] = {0};
    uint8_t out[SEC__MAC_LEN];

    memset(key, 0x0b, 20);
    assert_true(sec__mac_once(key, "Hi There", 8, out));
    assert_memory_equal(out, hi_there, sizeof(out));
    assert_true(sec__mac_once(jefe, question, sizeof(question) - 1, out));
    assert_memory_equal(out, answer, sizeof(out));
}

TEST(a_key_serves_many_messages_until_there_is_another) {
    static const uint8_t other[SEC__MAC_KEY_LEN] = {1};
    uint8_t out[SEC__MAC_LEN];
    sec__mac *m = sec__mac_new(other);

    assert_non_null(m);
    assert_true(sec__mac_write(m, question, sizeof(question) - 1, out));
    assert_memory_not_equal(out, answer, sizeof(out));
    sec__mac_rekey(m, jefe);
    for (int i = 0; i < 3; i++) {
        assert_true(sec__mac_write(m, question, sizeof(question) - 1, out));
        assert_memory_equal(out, answer, sizeof(out));
    }
    sec__mac_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_vectors_come_out),
        cmocka_unit_test(a_key_serves_many_messages_until_there_is_another),
    };

    return cmocka_run_group_tests_name("mac", tests, NULL, NULL);
}
