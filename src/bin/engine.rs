//! The worker: contains the engines, but not the page.

fn main() {
    glasscage::worker::start::run();
}
