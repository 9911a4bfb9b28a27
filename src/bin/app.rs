//! The page: the program that readers of a shared explanation download. It contains no engine.

fn main() {
    glasscage::app::start();
}
