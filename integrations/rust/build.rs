// SPDX-License-Identifier: MPL-2.0
//! Asks pkg-config where libtltcp-live is.
use std::process::Command;

fn main() {
    let out = Command::new("pkg-config")
        .args(["--libs", "tltcp-live"])
        .output()
        .expect("pkg-config is needed");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    for word in String::from_utf8_lossy(&out.stdout).split_whitespace() {
        if let Some(path) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={path}");
            println!("cargo:rustc-link-arg=-Wl,-rpath,{path}");
        } else if let Some(name) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={name}");
        }
    }
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
}
