/* SPDX-License-Identifier: MPL-2.0 */
/* BBR: the model of the path (bbr_model.c), the state machine (bbr_cycle.c),
 * and the control of rate and window (bbr.c). */
#ifndef LIBCONGESTION_BBR_H
#define LIBCONGESTION_BBR_H

#include "libcongestion/internal.h"

#define BBR_MIN_PIPE 4 /* segments; keeps the pipeline going */

enum bbr_state {
    BBR_STARTUP,
    BBR_DRAIN,
    BBR_PROBE_DOWN,
    BBR_PROBE_CRUISE,
    BBR_PROBE_REFILL,
    BBR_PROBE_UP,
    BBR_PROBE_RTT
};

/* What feedback means for bandwidth probing. */
enum bbr_acks {
    BBR_ACKS_INIT,
    BBR_ACKS_REFILLING,
    BBR_ACKS_STARTING,
    BBR_ACKS_FEEDBACK,
    BBR_ACKS_STOPPING
};

/* The current feedback, sanitised. */
struct bbr_sample {
    cong_time now;
    double acked;
    double lost_now;     /* newly lost */
    double inflight;     /* bytes in flight after the feedback */
    double rate;         /* delivery rate; 0: no sample */
    double delivered;    /* over the sampled flight */
    double tx_in_flight; /* when the sampled packet left */
    double lost;         /* since it left */
    double prior;        /* delivered count when it left */
    bool app_limited;
    bool cwnd_limited; /* the window was full in this round or the last */
    bool grows;        /* the window may grow */
    bool recovery;
};

struct bbr {
    struct window w;
    /* Parameters. */
    double loss_threshold; /* tolerated loss while probing */
    double beta;           /* fraction of the short-term bounds kept after a
                              loss */
    double headroom;       /* fraction of inflight_longterm left to other
                              flows */
    double margin;         /* fraction of the rate left unused */
    double seed;
    /* State machine. */
    enum bbr_state state;
    enum bbr_acks acks;
    uint64_t random;
    unsigned rounds;          /* round trips so far */
    unsigned drain_start;     /* value of rounds when Drain began */
    unsigned since_probe_up;  /* round trips since the newest probe */
    unsigned up_rounds;       /* rounds of this probe in which the bound grew */
    unsigned samples_after;   /* rate samples count from this round on */
    bool round_start;         /* this feedback ended a round */
    bool skip_round;          /* the round in progress began too early */
    bool full_bw_reached;     /* the pipe has been filled */
    bool full_bw_now;         /* it is filled */
    unsigned full_bw_count;   /* rounds without growth */
    double full_bw;           /* bytes/s, baseline for full_bw_count */
    cong_time cycle_stamp;    /* when the cycle began */
    cong_time probe_wait;     /* its maximum length */
    bool probe_sample;        /* feedback reports on a probe */
    bool probe_too_high;      /* the newest probe lost too much */
    bool probe_precautionary; /* it was stopped early because of that */
    bool idle_restart;
    bool in_recovery;
    bool has_rtt;      /* the initial rate is based on an RTT */
    double prior_cwnd; /* the newest window before any reduction */
    bool limited[2];   /* window full: in this round, in the last one */
    struct bbr_sample s;
    /* Model. */
    double delivered;          /* bytes */
    double bw_slot[2];         /* highest rate: this cycle, the last one */
    double max_bw;             /* bytes/s */
    double bw;                 /* bytes/s, max_bw within the short-term bound */
    double bw_shortterm;       /* bytes/s */
    double bw_latest;          /* bytes/s, highest of a round */
    double inflight_shortterm; /* bytes */
    double inflight_longterm;  /* bytes */
    double inflight_latest;    /* bytes, highest of a round */
    double up_acked;           /* bytes since inflight_longterm grew */
    double up_per_segment;     /* bytes to be acked until it grows */
    double extra_slot[2];      /* highest extra: newest rounds, earlier
                                  rounds */
    unsigned extra_rounds;     /* rounds in the first slot */
    double extra_delivered;    /* bytes in this interval */
    cong_time extra_start;
    double min_rtt; /* s, over 10 s */
    cong_time min_rtt_stamp;
    double probe_rtt_delay; /* s, lowest in 5 s */
    cong_time probe_rtt_stamp;
    bool probe_rtt_expired;
    bool probe_rtt_round_done;
    cong_time probe_rtt_done; /* when ProbeRTT may end; -1: not yet known */
    /* Loss in this round. */
    double loss_round;     /* delivered count that ends the round */
    double round_lost;     /* bytes */
    unsigned round_ranges; /* ranges */
    bool loss_in_round;
    bool loss_round_start; /* this feedback ended a round of losses */
    /* What an undo restores. */
    bool undo_startup;
    bool undo_probe_up;
    double undo_bw_shortterm;
    double undo_inflight_shortterm;
    double undo_inflight_longterm;
};

/* bbr_model.c */
void cong__bbr_model_init(struct bbr *b, cong_time now, cong_time rtt);
/* Rate samples, losses and short-term bounds. */
void cong__bbr_model_update(struct bbr *b);
/* Updates the lowest RTT; rtt: sample of this feedback, ns, -1: none. */
void cong__bbr_model_rtt(struct bbr *b, cong_time rtt);
/* The end of a feedback. */
void cong__bbr_model_advance(struct bbr *b);
void cong__bbr_reset_signals(struct bbr *b);
void cong__bbr_reset_shortterm(struct bbr *b);
void cong__bbr_reset_full_bw(struct bbr *b);
void cong__bbr_note_loss(struct bbr *b);
void cong__bbr_save_cwnd(struct bbr *b);
bool cong__bbr_inflight_too_high(const struct bbr *b);
/* Bytes in flight at which losses crossed the threshold. */
double cong__bbr_inflight_at_loss(const struct bbr *b);
/* gain bandwidth-delay products, bytes. */
double cong__bbr_bdp(const struct bbr *b, double gain);
/* At least what pipelining and the host's bursts need. */
double cong__bbr_quantize(const struct bbr *b, double inflight);
/* Both of the above. */
double cong__bbr_inflight(const struct bbr *b, double gain);
/* inflight_longterm less the headroom for other flows. */
double cong__bbr_with_headroom(const struct bbr *b);
double cong__bbr_target_inflight(const struct bbr *b);
double cong__bbr_extra_acked(const struct bbr *b);

/* bbr_cycle.c */
bool cong__bbr_in_probe_bw(const struct bbr *b);
void cong__bbr_start_refill(struct bbr *b);
/* A probe put more in flight than the path carries. */
void cong__bbr_too_high(struct bbr *b, double inflight, bool app_limited);
void cong__bbr_leave_startup(struct bbr *b);
void cong__bbr_handle_loss(struct bbr *b);
void cong__bbr_check_startup(struct bbr *b);
void cong__bbr_check_drain(struct bbr *b);
void cong__bbr_update_cycle(struct bbr *b);
void cong__bbr_check_probe_rtt(struct bbr *b);
void cong__bbr_check_probe_rtt_done(struct bbr *b, cong_time now);
void cong__bbr_restore_cwnd(struct bbr *b);
double cong__bbr_probe_rtt_cwnd(const struct bbr *b);

/* bbr.c */
double cong__bbr_pacing_gain(const struct bbr *b);
double cong__bbr_cwnd_gain(const struct bbr *b);
void cong__bbr_set_pacing(struct bbr *b, double gain);

#endif /* LIBCONGESTION_BBR_H */
