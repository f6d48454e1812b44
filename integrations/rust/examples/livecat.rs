// SPDX-License-Identifier: MPL-2.0
//! `livecat URL` writes what comes to standard output.
use std::ffi::{CStr, CString};
use std::io::Write;
use std::os::raw::c_char;
use std::ptr::null_mut;
use tltcp_live_sys::*;

/// A receiver that closes itself.
struct Receiver(*mut tltcp_live);

impl Receiver {
    fn open(url: &str) -> Result<Receiver, String> {
        let text = CString::new(url).map_err(|e| e.to_string())?;
        let mut why = [0 as c_char; TLTCP_LIVE_WHY_MAX];
        let mut live = null_mut();
        unsafe {
            let options = tltcp_live_options_new();
            if options.is_null() {
                return Err("out of memory".into());
            }
            let mut code = tltcp_live_options_set_url(options, text.as_ptr(), why.as_mut_ptr());
            if code == 0 {
                code = tltcp_live_open(&mut live, TLTCP_LIVE_RECEIVE, options, why.as_mut_ptr());
            }
            if code < 0 {
                tltcp_live_options_free(options);
                return Err(words(why.as_ptr()));
            }
        }
        Ok(Receiver(live))
    }

    fn read(&mut self, room: &mut [u8]) -> Result<usize, String> {
        let n = unsafe { tltcp_live_read_ts(self.0, room.as_mut_ptr().cast(), room.len(), -1) };
        if n < 0 {
            return Err(unsafe { words(tltcp_strerror(n as i32)) });
        }
        Ok(n as usize)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        unsafe { tltcp_live_close(self.0, 0) }
    }
}

unsafe fn words(text: *const c_char) -> String {
    CStr::from_ptr(text).to_string_lossy().into_owned()
}

fn run(url: &str) -> Result<(), String> {
    let mut receiver = Receiver::open(url)?;
    let mut out = std::io::stdout().lock();
    let mut room = [0u8; 65536];
    loop {
        let n = receiver.read(&mut room)?;
        if n == 0 {
            return Ok(());
        }
        out.write_all(&room[..n]).map_err(|e| e.to_string())?;
    }
}

fn main() {
    let url = std::env::args().nth(1).unwrap_or_default();
    if let Err(why) = run(&url) {
        eprintln!("livecat: {why}");
        std::process::exit(1);
    }
}
