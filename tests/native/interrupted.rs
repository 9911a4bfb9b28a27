//! Ctrl-C while the command line explains.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use glasscage::explanation::Document;
use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::cli::demo_with_a_long_context;

/// A terminal holds this many bytes at most until they are read. Then its writer waits.
const TERMINAL_BUFFER: usize = 1 << 16;

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("interrupted");
    fs::create_dir_all(&folder).unwrap();
    let [answer, json] = ["answer.txt", "explained.json"].map(|name| folder.join(name));
    fs::write(&answer, "The answer is 4.").unwrap();
    let terminal = openpty(None, None).expect("a terminal");
    let mut explain = Command::new(env!("CARGO_BIN_EXE_glasscage"))
        .args(["explain", "--model", &demo_with_a_long_context(&folder), "--method", "ig"])
        .args(["--prompt", &"Go.\n".repeat(150)])
        .args([Path::new("--answer-file"), &answer, Path::new("--json"), &json])
        .stdout(Stdio::piped())
        .stderr(terminal.slave)
        .spawn()
        .expect("it starts");
    let (mut shown, mut screen) = (String::new(), File::from(terminal.master));
    let mut see = |shown: &mut String| {
        let mut bytes = [0; 64];
        // A terminal whose programs have all ended reports an error.
        let n = screen.read(&mut bytes).unwrap_or(0);
        shown.push_str(&String::from_utf8_lossy(&bytes[..n]));
        n > 0
    };
    while !shown.contains("pass 2 of ") {
        assert!(see(&mut shown), "{shown}");
    }
    // The passes cannot all be done by now, because showing them would fill the terminal.
    kill(Pid::from_raw(explain.id() as i32), Signal::SIGINT).unwrap();
    while see(&mut shown) {}
    assert_eq!(explain.wait().unwrap().code(), Some(2), "{shown}");
    assert!(shown.contains("interrupted; the document has what was measured by then"), "{shown}");
    let document = Document::from_json(&fs::read_to_string(json).unwrap()).unwrap();
    let [done, planned] = document.method.passes;
    assert!((1..planned).contains(&done) && !document.is_complete(), "{done} of {planned}");
    assert!(planned * "\rpass 1 of 1".len() > TERMINAL_BUFFER, "{planned} passes fit on the terminal");
}
