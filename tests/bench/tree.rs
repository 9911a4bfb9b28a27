//! CPU time and memory of a process tree over time, from /proc.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Linux counts the CPU time of a process in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;
const PAGE_BYTES: u64 = 4096;
const INTERVAL: Duration = Duration::from_millis(20);

/// All descendants of this process at one time.
#[derive(Clone, Copy, Default)]
struct Sample {
    /// Unix time in milliseconds.
    millis: f64,
    /// CPU time of running and ended processes.
    cpu_seconds: f64,
    /// Resident memory of the renderer processes, which run pages and their workers.
    renderer_bytes: u64,
    /// Resident memory of the process that emulates the GPU.
    gpu_bytes: u64,
}

/// Data of one process from its `stat` file in /proc.
struct Process {
    parent: u32,
    cpu_seconds: f64,
    bytes: u64,
}

/// Samples the processes until it is dropped or finished.
pub struct Watch {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Sample>>>,
}

/// The samples in time order.
pub struct Seen(Vec<Sample>);

impl Watch {
    pub fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = is_over.clone();
        let watch = move || {
            let mut samples = Vec::new();
            while !ends.load(Ordering::Relaxed) {
                samples.push(sample());
                std::thread::sleep(INTERVAL);
            }
            samples
        };
        Self { is_over, thread: Some(std::thread::spawn(watch)) }
    }

    pub fn finish(mut self) -> Seen {
        self.is_over.store(true, Ordering::Relaxed);
        Seen(self.thread.take().expect("it is finished once").join().expect("reading /proc does not panic"))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Seen {
    /// CPU-seconds between two times in Unix milliseconds.
    pub fn cpu_seconds(&self, begin: f64, end: f64) -> f64 {
        self.at(end) - self.at(begin)
    }

    /// Largest resident memory of the renderers and of the GPU process, in bytes.
    pub fn peak_bytes(&self) -> [u64; 2] {
        let largest = |bytes: fn(&Sample) -> u64| self.0.iter().map(bytes).max().unwrap_or(0);
        [largest(|sample| sample.renderer_bytes), largest(|sample| sample.gpu_bytes)]
    }

    fn at(&self, millis: f64) -> f64 {
        let after = self.0.partition_point(|sample| sample.millis < millis).clamp(1, self.0.len() - 1);
        let (a, b) = (self.0[after - 1], self.0[after]);
        let part = ((millis - a.millis) / (b.millis - a.millis)).clamp(0.0, 1.0);
        a.cpu_seconds + part * (b.cpu_seconds - a.cpu_seconds)
    }
}

fn sample() -> Sample {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| 1e3 * time.as_secs_f64());
    let processes = processes();
    let mut sum = Sample { millis, ..Sample::default() };
    for (&id, process) in processes.iter().filter(|(id, _)| descends(&processes, **id)) {
        sum.cpu_seconds += process.cpu_seconds;
        match kind(id).as_str() {
            "renderer" => sum.renderer_bytes += process.bytes,
            "gpu-process" => sum.gpu_bytes += process.bytes,
            _ => {}
        }
    }
    sum
}

fn processes() -> HashMap<u32, Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| Some((id, parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?))).collect()
}

fn parse(stat: &str) -> Option<Process> {
    // The second field, the program name, may contain any characters.
    let fields: Vec<i64> = stat.rsplit_once(')')?.1.split_whitespace().skip(1).map(|field| field.parse().unwrap_or(0)).collect();
    let ticks: i64 = fields.get(10..14)?.iter().sum();
    Some(Process {
        parent: u32::try_from(fields[0]).ok()?,
        cpu_seconds: ticks as f64 / TICKS_PER_SECOND,
        bytes: u64::try_from(*fields.get(20)?).ok()? * PAGE_BYTES,
    })
}

/// Whether process `id` is a descendant of this process.
fn descends(processes: &HashMap<u32, Process>, mut id: u32) -> bool {
    while let Some(process) = processes.get(&id) {
        if process.parent == std::process::id() {
            return true;
        }
        id = process.parent;
    }
    false
}

/// Chromium's type of a process. Empty if it has none.
fn kind(id: u32) -> String {
    let line = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let kind = line.split(['\0', ' ']).find_map(|word| word.strip_prefix("--type="));
    kind.unwrap_or_default().to_owned()
}

#[test]
fn a_line_of_proc_is_read() {
    let stat = "7 (a) b) S 3 7 7 0 -1 0 1 2 3 4 100 50 25 25 20 0 1 0 99 1000000 10 18446744073709551615";
    let process = parse(stat).unwrap();
    assert_eq!((process.parent, process.cpu_seconds, process.bytes), (3, 2.0, 40960));
}
