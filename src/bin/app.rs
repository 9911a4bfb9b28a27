//! The page: what someone downloads who opens a shared explanation. It holds no engine.

fn main() {
    glasscage::app::start();
}
