//! The worker with candle on the CPU.

fn main() {
    glasscage::worker::host::run();
}
