//! Cost of a computation: elapsed time, and CPU time of this process.

use std::fmt;
use std::time::Instant;

use serde::Serialize;

/// Linux reports the CPU time of a process in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// Time taken, in seconds. If the system does not report CPU time, the elapsed time replaces it.
#[derive(Clone, Copy, Serialize)]
pub struct Cost {
    pub wall_seconds: f64,
    pub cpu_seconds: f64,
}

impl Cost {
    /// The cost of `factor` times as much work.
    pub fn scaled(self, factor: f64) -> Self {
        Self { wall_seconds: factor * self.wall_seconds, cpu_seconds: factor * self.cpu_seconds }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} s ({:.2} CPU-s)", self.wall_seconds, self.cpu_seconds)
    }
}

/// Measures the cost since it was started.
pub struct Stopwatch {
    began: Instant,
    cpu_seconds: Option<f64>,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self { began: Instant::now(), cpu_seconds: cpu_seconds() }
    }

    /// Cost since the start.
    pub fn cost(&self) -> Cost {
        let wall_seconds = self.began.elapsed().as_secs_f64();
        let used = cpu_seconds().zip(self.cpu_seconds).map(|(now, before)| now - before);
        // Less than a tick cannot be distinguished from zero.
        Cost { wall_seconds, cpu_seconds: used.filter(|&used| used > 0.0).unwrap_or(wall_seconds) }
    }
}

/// CPU time of all threads of this process so far, in seconds.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field, the program's name, may contain any characters.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: Vec<f64> = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    Some(ticks.iter().sum::<f64>() / TICKS_PER_SECOND)
}

/// Peak memory of this process.
pub fn peak_resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}
