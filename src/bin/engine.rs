//! The worker: the engines, and no page.

fn main() {
    glasscage::worker::start::run();
}
