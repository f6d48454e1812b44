/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A caller and a listener joined by two links, with a source and a reader at
 * each end, and everything that must hold checked while they run.
 *
 * What is found wrong is written down (world_why), not asserted on the spot:
 * the check sits inside calls of the engine.
 */
#ifndef TESTS_SIMNET_WORLD_H
#define TESTS_SIMNET_WORLD_H

#include "internal/secure/packet.h"
#include "sim/reader.h"
#include "sim/source.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define MS TLTCP_MS
#define SEC TLTCP_S
#define NEVER TLTCP_TIME_NEVER

enum { CLIENT = 0, SERVER = 1 };

struct end;

/* The plan of a test; plan_init() sets a plain, lossless transfer. */
struct plan {
    uint64_t seed;
    struct sim_link_config link[2]; /* out of CLIENT, out of SERVER */
    tltcp_config config[2];
    struct sim_source_config source[2]; /* sections 0: writes nothing */
    struct sim_reader_config reader[2]; /* on_piece is the world's */
    uint64_t clock[2];                  /* of the hosts at the start */
    size_t batch;                       /* bytes per tltcp_conn_send() */
    uint64_t max_time;                  /* virtual time that must do */
    bool keep_open;                     /* nobody closes; the test does */
    bool quiet;         /* close only when nothing is in flight */
    uint64_t first_pn;  /* first packet number of both ends */
    uint32_t first_seq; /* wire number of place 0 of both streams */
    sim_tap_fn tap;     /* sees every packet on both links */
    void (*spy)(void *user, struct end *e, const void *dgram, size_t len);
    void *user;              /* of tap and spy */
    struct test_alloc alloc; /* how it starts: failures, limits */
    enum sim_answer answer;
    bool secured;           /* both ends have a key: packets cannot be read */
    bool light;             /* looks at nothing: for measuring */
    bool no_flight_check;   /* where the window is not what limits */
    bool gives_up;          /* sections may go before their deadline */
    bool no_delivery_check; /* the transfer is not expected to end */
};

/* Data about one section. */
struct tally {
    uint64_t got;   /* bytes handed over */
    uint64_t tiled; /* the same with gaps, from its start */
    unsigned fate;  /* enum tltcp_fate; 0: none yet */
    bool late;      /* the fate was known only after the deadline, or when it
                       had been given up */
    unsigned cause; /* enum tltcp_cause, of the fate */
    uint64_t whole; /* virtual time at which the last byte was read; 0: never */
};

/* The stream out of one end, as it comes out at the other. */
struct flow {
    struct world *world;
    struct sim_source source;
    struct sim_reader reader;
    uint64_t next_seq;   /* place up to which it was read */
    struct tally *tally; /* by section */
    uint64_t cap;        /* room there */
    uint64_t fates[6];   /* how many of each */
    uint64_t told;       /* pieces of whose sections something was said */
    bool first_seq_known;
    uint32_t first_seq; /* wire number of place 0 */
    bool unordered;
};

struct end {
    struct world *world;
    struct sim_host *host;
    struct sim_peer *peer; /* NULL: none yet */
    struct flow *out;
    struct flow *in;
    bool connected;
    bool closed;  /* the event came */
    bool closing; /* tltcp_conn_close() was called */
    int error;    /* of the event */
    char reason[TLTCP_REASON_MAX + 1];
    uint64_t connected_at; /* virtual time */
    uint64_t closed_at;
    uint64_t path_events;
    uint64_t lead;      /* longest time by which deadlines come early */
    uint64_t slack;     /* least time to its deadline of a byte sent */
    bool data;          /* the datagram at hand carries DATA */
    uint64_t flight;    /* at the last look */
    uint64_t probes;    /* likewise */
    uint64_t retries;   /* likewise: rto_count */
    uint64_t cuts;      /* likewise: congestion_events */
    bool repair;        /* it may go beyond the window */
    uint64_t probed_at; /* virtual time */
    uint64_t datagrams; /* sent */
    uint64_t bytes;     /* in them */
    uint64_t largest;   /* datagram sent */
    uint64_t last_send; /* virtual time */
};

struct world {
    struct plan plan;
    struct sim_net *net;
    uint32_t link[2];
    struct end end[2];
    struct flow flow[2]; /* out of CLIENT, out of SERVER */
    struct test_alloc alloc;
    uint64_t hash; /* of all datagrams with their times */
    char why[400]; /* the first thing found wrong, or "" */
};

/* Whether packets cannot be read. */
bool world_is_sealed(const struct world *w);

void plan_init(struct plan *p, uint64_t seed);
/* Three seconds of small sections both ways. */
void plan_steady(struct plan *p, uint64_t seed);
/* Every dimension by lot. */
void plan_random(struct plan *p, uint64_t seed);
/* One line that describes a plan, for failures. */
const char *plan_describe(const struct plan *p, char *buf, size_t size);

/* Sets everything up; the handshake has begun.  0 or an error of the engine. */
int world_open(struct world *w, const struct plan *p);
/* The same, asserts that it went well. */
void world_start(struct world *w, const struct plan *p);
/* And runs for some virtual time, in which nothing may be wrong. */
void world_start_for(struct world *w, const struct plan *p, uint64_t ns);
/* Runs and checks a transfer that is to go well, asserts that it did. */
void world_run_checked(struct world *w);
/* The same, and closes. */
void world_finish(struct world *w);
/* Runs until both ends are over or plan.max_time has passed. */
void world_run(struct world *w);
/* Runs until all was read and nothing is in flight at either end. */
void world_run_until_quiet(struct world *w);
/* Both ends are closed and all was read. */
bool world_is_over(const struct world *w);
void end_close(struct end *e);
/* Runs for some virtual time. */
void world_run_for(struct world *w, uint64_t ns);
/* Checks what must hold in the end of a transfer that went well. */
void world_check_end(struct world *w);
/* Frees everything, asserts that no memory is left. */
void world_close(struct world *w);
/* The same for who looks himself at what is left in alloc. */
void world_free(struct world *w);
/* Writes down something wrong, once. */
void world_fault(struct world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* From now on the way out of an end carries no datagram above 1250 bytes. */
void world_narrow(struct world *w, int end);
/* Skips a test where no repair symbols can be made. */
void world_needs_fec(void);

uint64_t world_now(struct world *w);
tltcp_stats end_stats(const struct end *e);
/* Opens, runs, checks, closes; prints what is wrong.  False when anything is;
 * *hash, unless NULL, names the trace. */
bool play(const struct plan *p, uint64_t *hash);

/* Called by the world: see trace.c. */
void trace_datagram(struct end *e, const char *what, const void *dgram,
                    size_t len);
/* A line of the trace that says what happens to the world. */
void trace_note(struct world *w, const char *what);
/* Likewise: see check.c. */
void check_datagram(struct end *e, const void *dgram, size_t len);
/* Before each datagram is taken, which may shorten the lead again. */
void check_lead(struct end *e);
/* For an address that the peer has not proven nothing leaves but the proof. */
void check_path(struct end *e, uint64_t path, const void *dgram, size_t len);
void check_flight(struct end *e);
void check_piece(void *user, const struct tltcp_segment *seg,
                 const struct tltcp_meta *meta, const uint8_t *data,
                 uint64_t len);
void check_fate(struct end *e, const tltcp_event *ev);
void check_flow_end(struct world *w, struct flow *f);

#endif /* TESTS_SIMNET_WORLD_H */
