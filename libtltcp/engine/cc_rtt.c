/* SPDX-License-Identifier: MPL-2.0 */
/* Round-trip times of packets of any size. */
#include "libtltcp/engine/cc.h"

#define FULL_SIZE 0.5     /* of the MSS: the size of a full packet, at least */
#define SMALL_SAMPLES 250 /* of small packets that are ignored after one */

cong_time tltcp__cc_on_rtt(tltcp__cc *cc, cong_time rtt, double size,
                           cong_time now) {
    cong_time low = cc->rtt.min_rtt;
    if (size >= FULL_SIZE * cc->cong->mss) {
        if (cc->low_is_small) {
            cong_rtt_raise_min(&cc->rtt, rtt);
        }
        cc->low_is_small = false;
        cc->small_left = SMALL_SAMPLES;
    } else if (cc->small_left > 0) {
        cc->small_left--;
        rtt = rtt > low ? rtt : low;
    } else {
        cc->low_is_small |= low < 0 || rtt < low;
    }
    cong_rtt_sample_at(&cc->rtt, rtt, now);
    return rtt;
}
