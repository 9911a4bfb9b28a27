//! The viewer: what shows an explanation in other people's pages. It can run nothing.

fn main() {
    glasscage::app::viewer::start();
}
