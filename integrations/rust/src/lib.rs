// SPDX-License-Identifier: MPL-2.0
//! Bindings of `<tltcp/live.h>` for transport streams: the calls that take
//! opaque pointers, which stay as they are.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_void};

/// Options of a sender or receiver.
#[repr(C)]
pub struct tltcp_live_options {
    _private: [u8; 0],
}

/// A sender or a receiver.
#[repr(C)]
pub struct tltcp_live {
    _private: [u8; 0],
}

/// Room for a sentence that says what is wrong.
pub const TLTCP_LIVE_WHY_MAX: usize = 384;
/// Direction of a sender.
pub const TLTCP_LIVE_SEND: c_int = 1;
/// Direction of a receiver.
pub const TLTCP_LIVE_RECEIVE: c_int = 2;
/// Nothing in time.
pub const TLTCP_ERR_AGAIN: c_int = -1;
/// The connection is over.
pub const TLTCP_ERR_CLOSED: c_int = -7;

extern "C" {
    pub fn tltcp_strerror(error: c_int) -> *const c_char;
    pub fn tltcp_live_options_new() -> *mut tltcp_live_options;
    pub fn tltcp_live_options_free(o: *mut tltcp_live_options);
    pub fn tltcp_live_options_set_url(
        o: *mut tltcp_live_options,
        url: *const c_char,
        why: *mut c_char,
    ) -> c_int;
    pub fn tltcp_live_options_set(
        o: *mut tltcp_live_options,
        key: *const c_char,
        value: *const c_char,
        why: *mut c_char,
    ) -> c_int;
    pub fn tltcp_live_open(
        l: *mut *mut tltcp_live,
        direction: c_int,
        o: *mut tltcp_live_options,
        why: *mut c_char,
    ) -> c_int;
    pub fn tltcp_live_wait_room(l: *mut tltcp_live, len: usize, timeout_ms: c_int) -> c_int;
    pub fn tltcp_live_write_ts(
        l: *mut tltcp_live,
        data: *const c_void,
        len: usize,
        timeout_ms: c_int,
    ) -> c_int;
    pub fn tltcp_live_finish(l: *mut tltcp_live, timeout_ms: c_int) -> c_int;
    pub fn tltcp_live_read_ts(
        l: *mut tltcp_live,
        data: *mut c_void,
        len: usize,
        timeout_ms: c_int,
    ) -> isize;
    pub fn tltcp_live_stats_json(l: *mut tltcp_live, buf: *mut c_char, cap: usize) -> usize;
    pub fn tltcp_live_interrupt(l: *mut tltcp_live, on: bool);
    pub fn tltcp_live_close(l: *mut tltcp_live, linger_ms: c_int);
}
