/* SPDX-License-Identifier: MPL-2.0 */
/* What saratoga --help prints. */
#include "tools/saratoga/help.h"

#include <stddef.h>

const char *const saratoga_help[] = {
    "Usage: saratoga serve [OPTION...]\n"
    "  or:  saratoga get [-r] [OPTION...] URL... [FILE or DIR]\n"
    "  or:  saratoga put [-r] [OPTION...] FILE... URL\n"
    "  or:  saratoga take [OPTION...] URL... [FILE or DIR]\n"
    "  or:  saratoga give [OPTION...] FILE... URL\n"
    "  or:  saratoga mirror [OPTION...] URL DIR\n"
    "  or:  saratoga ls [OPTION...] URL\n"
    "  or:  saratoga rm [OPTION...] URL...\n"
    "  or:  saratoga peers [OPTION...]\n"
    "\n"
    "Moves files over UDP by Saratoga, a protocol for long, lossy and "
    "asymmetric\n"
    "links. URL is saratoga://HOST[:7542]/PATH. FILE - is standard output or "
    "input.\n"
    "\n"
    "serve offers a folder; get, put, ls and rm work on it.\n"
    "put - sends standard input as a stream, as it comes.\n"
    "take and give are get and put that delete the original once the other "
    "side has\n"
    "a verified copy. mirror fetches new files, pass after pass. peers lists "
    "the\n"
    "beacons that it receives.\n"
    "\n"
    "The sending side chooses rate and checksum: for a get that is serve.\n"
    "\n"
    "Transfers:\n"
    "  --rate RATE         fixed rate without congestion control, such as "
    "38.4kbit\n"
    "                      or 100mbit; for links that are not shared\n"
    "  --congestion NAME   stfrc (default without --rate); auto: as fast as "
    "the\n"
    "                      receiver accepts, at most --rate; tfrc; or a "
    "window\n"
    "                      controller such as cubic\n"
    "  --checksum TYPE     none, crc32c, md5 (default), sha1, sha256, "
    "hmac-sha256\n"
    "  --descriptor BITS   16, 32, 64 or 128; default: by file size\n"
    "  --timestamps[=KIND]\n"
    "                      on (default), off, local, posix32, posix64, "
    "posix32f,\n"
    "                      posix64f, y2k\n"
    "  --profile NAME      implementation of the peer: draft (default), "
    "nasa-perl,\n"
    "                      vallona, go\n"
    "  --resume            continues an earlier transfer\n"
    "  --overwrite         replaces existing files\n"
    "  --update            get: only if size or time differ from the local "
    "copy;\n"
    "                      needed at both ends\n"
    "  -r, --recursive     folders with their contents\n"
    "  --uplink RATE       rate of the link that carries STATUS packets; they "
    "use\n"
    "                      at most half of it\n"
    "  --rtt TIME          round-trip time, if known\n"
    "  --mtu BYTES         maximum size of IP packets; default 1500\n"
    "  --inactivity TIME   gives up after this silence; default 30\n"
    "  --retry TIME        delay before the first repeat of a request; default "
    "1\n"
    "  --parallel N        number of simultaneous transfers; default 4\n"
    "  --one-way           put: no return path; nothing is acknowledged or "
    "repaired;\n"
    "                      --set cycles=3 sends everything three times\n"
    "  --multicast         put: the host is a group; its members run serve "
    "--write\n"
    "                      and report what they miss; serve: answers gets to "
    "a\n"
    "                      group, once for all simultaneous requests; get, "
    "mirror:\n"
    "                      receive the answer there. A get from a group takes "
    "the\n"
    "                      file from the first member that answers\n"
    "  --group ADDR[:PORT]\n"
    "                      serve, get, mirror: the group; default 224.0.0.108\n"
    "  --unreliable        put -, serve: streams without retransmission\n"
    "  --udp-lite          serve: sends data by UDP-Lite, possibly with "
    "errors, to\n"
    "                      clients that accept it; get: accepts it; with\n"
    "                      --checksum none\n",
    "  --passphrase-file FILE\n"
    "                      its first line is a shared secret: all traffic is\n"
    "                      sealed; not with groups or --one-way.\n"
    "                      $PERIGEE_PASSPHRASE does the same; so does\n"
    "                      --passphrase P, which other users of this machine "
    "see\n"
    "  --key-file FILE     32 bytes, or 64 hexadecimal digits, in place of a\n"
    "                      passphrase; of several, the first is used for "
    "calls,\n"
    "                      and callers may use any\n"
    "  --auth-key FILE     16 to 256 bytes, a shared key: serves only requests "
    "that\n"
    "                      are signed with it\n"
    "  --auth-files        accepts only files with a checksum by that key\n"
    "                      (--checksum hmac-sha256 at the sender)\n"
    "  --set NAME=VALUE    times: retry, status-spacing, first-spacing,\n"
    "                      quiet-status, metadata-wait, inactivity, linger, "
    "poll,\n"
    "                      poll-max, rtt; numbers: tries, spacing-packets, "
    "copies,\n"
    "                      cycles, max-holes, payload, blocks; sizes: block,\n"
    "                      window, unconfirmed; symmetry (stfrc)\n"
    "  --bind ADDR[:PORT]  local address\n"
    "  --json FILE         writes a report at the end; -: standard output\n"
    "  -q, --quiet         no progress line, no log\n"
    "  -h, --help          this text\n"
    "  -V, --version       the version\n"
    "\n",
    "serve:\n"
    "  --root DIR          folder to serve; default: the current folder\n"
    "  --no-read           denies get and ls\n"
    "  --streams           serves named pipes as streams, each to one client\n"
    "  --write             allows put and give\n"
    "  --delete            allows rm and take\n"
    "  --beacon SEC        sends a beacon at this interval\n"
    "  --beacon-to ADDR[:PORT]\n"
    "                      destination of beacons; default: the group "
    "224.0.0.108\n"
    "  --eid NAME          its name in beacons; default: the host name\n"
    "  --rate-file FILE    reads the rate from a file, and again when it "
    "changes\n"
    "  --max-sessions N    limit on simultaneous sessions; default 1024\n"
    "  --max-per-peer N    the same for one address; default 128\n"
    "  --max-peers N       limit on simultaneous addresses; default 256\n"
    "  --quota SIZE        limit on the total size of files put here\n"
    "  --port-file FILE    writes the address listened on\n"
    "Once it serves, it drops the rights to open other files (Landlock) and "
    "to\n"
    "start programs (seccomp), where the system supports this. Its log says "
    "which\n"
    "rights remain.\n"
    "\n"
    "mirror, peers:\n"
    "  --interval TIME     between checks, unless a beacon arrives; default "
    "30\n"
    "  --min-age TIME      mirror: skips files that changed more recently\n"
    "  --once              mirror: ends when every file is here\n"
    "  --wait SEC          peers: ends after this time\n"
    "\n"
    "Times are seconds, or have a unit (500ms, 2min).\n"
    "\n"
    "Exit status: 0 on success, 1 on failure, 2 on wrong usage.\n"
    "\n"
    "Examples:\n"
    "  $ saratoga serve --root /images --rate 100mbit --beacon 5\n"
    "  $ saratoga mirror --uplink 38.4kbit saratoga://satellite/ images\n",
    NULL};

const char *const saratoga_details[] = {"put - sends",
                                        "take and give",
                                        "The sending side",
                                        "--congestion",
                                        "--descriptor",
                                        "--timestamps",
                                        "--profile",
                                        "--update",
                                        "--rtt",
                                        "--mtu",
                                        "--inactivity",
                                        "--retry",
                                        "--one-way",
                                        "--multicast",
                                        "--group",
                                        "--unreliable",
                                        "--udp-lite",
                                        "--passphrase-file",
                                        "--key-file",
                                        "--auth-key",
                                        "--auth-files",
                                        "--set",
                                        "--bind",
                                        "--json",
                                        "--quiet",
                                        "--no-read",
                                        "--streams",
                                        "--beacon-to",
                                        "--eid",
                                        "--rate-file",
                                        "--max-sessions",
                                        "--max-per-peer",
                                        "--max-peers",
                                        "--quota",
                                        "--port-file",
                                        "--min-age",
                                        "--wait",
                                        "Once it serves",
                                        "Times are",
                                        "--checksum",
                                        "--interval",
                                        "--parallel",
                                        "Exit status",
                                        NULL};
