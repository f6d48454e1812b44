/* SPDX-License-Identifier: MPL-2.0 */
#include "integrations/obs/lines.h"

static const struct {
    const char *name;
    const char *title;
    const char *unit;
} lines[] = {{"rtt_ms", "Round-trip time", " ms"},
             {"loss_percent", "Packets lost", " %"},
             {"delivery_ms", "Delivery takes", " ms"},
             {"target_kbps", "The path is good for", " kbit/s"},
             {"encoder_kbps", "The encoder makes", " kbit/s"},
             {"dropped_I", "Key pictures dropped", ""},
             {"dropped_P", "P pictures dropped", ""},
             {"dropped_B", "B pictures dropped", ""},
             {"dropped_audio", "Packets of sound dropped", ""}};

size_t obs_tltcp_lines(void) {
    return sizeof(lines) / sizeof(lines[0]);
}

const char *obs_tltcp_line_title(size_t i) {
    return lines[i].title;
}

void obs_tltcp_line_value(size_t i, obs_data_t *state, char *text,
                          size_t room) {
    double value = obs_data_get_double(state, lines[i].name);
    bool whole = value == (double)(long long)value;
    (void)snprintf(text, room, whole ? "%.0f%s" : "%.1f%s", value,
                   lines[i].unit);
}
