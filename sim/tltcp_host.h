/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/tltcp_host.h
 * @brief TLTCP engines attached to a node of the virtual network.
 *
 * A host owns one node. It calls from its own ports and may listen on one. Each
 * connection is a peer; its application is a table of functions. A host's clock
 * may differ from the network's.
 */
#ifndef SIM_TLTCP_HOST_H
#define SIM_TLTCP_HOST_H

#include <tltcp/conn.h>

#include "sim/net.h"

/** A host. */
struct sim_host;
struct sim_peer;

/** @brief Callbacks of an application; any may be NULL. */
struct sim_app {
    /** An event occurred. */
    void (*on_event)(void *user, struct sim_peer *p, const tltcp_event *ev);
    /** Called after every input and timeout: time to read and write. */
    void (*on_ready)(void *user, struct sim_peer *p);
    /** A datagram leaves; read-only. */
    void (*on_send)(void *user, struct sim_peer *p, const tltcp_pktinfo *info,
                    const void *dgram, size_t len);
    /** A datagram has arrived; called before the engine processes it. */
    void (*on_recv)(void *user, struct sim_peer *p, const tltcp_pktinfo *info,
                    const void *dgram, size_t len);
    void *user; /**< first argument of all callbacks */
};

/** @brief One end of a connection. */
struct sim_peer {
    tltcp_conn *conn;       /**< the engine */
    struct sim_host *host;  /**< its host */
    struct sim_peer *next;  /**< other peers of the host */
    struct sim_app app;     /**< its application */
    struct sim_timer timer; /**< timer of the engine */
    uint64_t remote;        /**< caller: address called */
    uint32_t port;          /**< caller: local port */
    bool pumping;           /**< inside sim_peer_pump() */
    bool again;             /**< sim_peer_pump() was called meanwhile */
    bool stuck;             /**< the engine requested time 0 repeatedly */
    uint32_t spins;         /**< timeouts in a row without time passing */
    uint64_t spin_at;       /**< when they began */
    uint64_t sent;          /**< bytes of the datagrams that left */
};

/** Answers to a caller. */
enum sim_answer {
    SIM_ACCEPT,
    SIM_REFUSE,
    SIM_LATER /**< the application answers with tltcp_conn_accept() */
};

/** @brief Decides about a caller; fills in p->app. */
typedef enum sim_answer (*sim_caller_fn)(void *user, struct sim_peer *p);

/**
 * @brief Puts a host into a network, on its own node.
 * @param net    network
 * @param clock  the host's time at network time 0, ns
 * @return the host, or NULL without memory
 */
struct sim_host *sim_host_new(struct sim_net *net, uint64_t clock);
/** @brief Frees a host and its connections; the node stays silent.
 * @param h  host, or NULL */
void sim_host_free(struct sim_host *h);
/** @brief The node of a host. @param h  host @return node */
uint32_t sim_host_node(const struct sim_host *h);
/** @brief The host's clock. @param h  host @return ns */
uint64_t sim_host_now(const struct sim_host *h);
/** @brief Lets the host's clock jump ahead, as of a process that was held up.
 * @param h   host
 * @param ns  how far */
void sim_host_skip(struct sim_host *h, uint64_t ns);
/** @brief The network. @param h  host @return network */
struct sim_net *sim_host_net(const struct sim_host *h);
/**
 * @brief Makes the host's process a slow one: it notices datagrams and timers
 * only at multiples of a time.
 * @param h      host
 * @param every  that time, ns; 0: at once, the default
 */
void sim_host_set_slow(struct sim_host *h, uint64_t every);
/**
 * @brief Sets how much the engine may write at once.
 * @param h      host
 * @param bytes  room given to tltcp_conn_send(), up to 65535; default 65535
 */
void sim_host_set_batch(struct sim_host *h, size_t bytes);
/**
 * @brief Listens on port 0 of the host.
 * @param h          host
 * @param config     of the endpoint
 * @param seed       random seed
 * @param on_caller  decides about callers; NULL: accepts all
 * @param user       for on_caller
 * @return 0 or a negative ::tltcp_error
 */
int sim_host_listen(struct sim_host *h, const tltcp_config *config,
                    uint64_t seed, sim_caller_fn on_caller, void *user);
/** @brief The listening endpoint. @param h host @return endpoint, or NULL */
tltcp_endpoint *sim_host_endpoint(const struct sim_host *h);
/**
 * @brief Calls a listener.
 * @param h       host
 * @param[out] out  the caller's end; freed with the host or sim_peer_free()
 * @param config  of the connection
 * @param seed    random seed
 * @param remote  address called
 * @param app     copied; NULL: none
 * @return 0 or a negative ::tltcp_error
 */
int sim_host_connect(struct sim_host *h, struct sim_peer **out,
                     const tltcp_config *config, uint64_t seed, uint64_t remote,
                     const struct sim_app *app);
/** @brief First peer of a host; others follow by next. @param h  host
 * @return peer or NULL */
struct sim_peer *sim_host_peers(const struct sim_host *h);
/** @brief Call it after using p->conn outside of the callbacks. @param p
 * peer */
void sim_peer_pump(struct sim_peer *p);
/** @brief A NAT rebinding: the caller gets another port, and the old one is
 * dead.
 * @param p  a caller's end @return address before */
uint64_t sim_peer_rebind(struct sim_peer *p);
/** @brief Address of a caller's end. @param p  peer @return address */
uint64_t sim_peer_address(const struct sim_peer *p);
/** @brief Frees a connection silently. @param p  peer, or NULL */
void sim_peer_free(struct sim_peer *p);

#endif /* SIM_TLTCP_HOST_H */
