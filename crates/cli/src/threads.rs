//! Number of threads that compute on the CPU.
//!
//! An explanation takes dozens of passes, so its threads share the passes. Candle's threads would share each operation instead: for small
//! models they wait for each other most of the time, and two are slower than one.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// The user's number of threads.
const CHOSEN: &str = "RAYON_NUM_THREADS";

/// Variables that set the number of candle's threads. If the first one is missing, candle asks the system again for every product.
const OF_CANDLE: [&str; 2] = [CHOSEN, "CANDLE_NUM_THREADS"];

static COUNT: OnceLock<usize> = OnceLock::new();

/// Number of threads that score passes: `RAYON_NUM_THREADS`, or one for each core.
pub fn count() -> usize {
    *COUNT.get_or_init(|| {
        let chosen = std::env::var(CHOSEN).ok().and_then(|number| number.parse().ok()).filter(|&number| number > 0);
        chosen.unwrap_or_else(|| available_parallelism().map_or(1, NonZero::get))
    })
}

/// Lets candle compute on one thread. Has to be called before another thread starts.
pub fn leave_one_to_candle() {
    count();
    for variable in OF_CANDLE {
        #[expect(unsafe_code, reason = "no other thread is there that could read a variable at the same time")]
        // SAFETY: this is called first of all.
        unsafe {
            std::env::set_var(variable, "1");
        }
    }
}
