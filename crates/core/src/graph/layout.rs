//! Lays out the arcs: nodes are the text lines in time order, and edges are half-ellipses next to them.

/// One arc of the vertical diagram, in pixels: it starts at `y_from`, ends at `y_to` (lower, later), and bulges by `reach`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc {
    pub y_from: f64,
    pub y_to: f64,
    pub reach: f64,
}

impl Arc {
    /// The `d` attribute of an SVG path that starts and ends on the vertical line x = `spine` and bulges to the left.
    pub fn path(&self, spine: f64) -> String {
        let Self { y_from, y_to, reach } = self;
        let x = spine - reach * 4.0 / 3.0;
        format!("M {spine:.1} {y_from:.1} C {x:.1} {y_from:.1} {x:.1} {y_to:.1} {spine:.1} {y_to:.1}")
    }

    /// The point (x, y) of the curve that is farthest from the line.
    pub fn apex(&self, spine: f64) -> (f64, f64) {
        (spine - self.reach, (self.y_from + self.y_to) / 2.0)
    }
}

/// The arcs of `edges` (from node, to node) between nodes at heights `y`. No arc bulges by more than `width`. The bulge grows with the
/// square root of the distance, so that arcs between near neighbors stay distinguishable.
pub fn arcs(edges: &[(usize, usize)], y: &[f64], width: f64) -> Vec<Arc> {
    let height = y.last().zip(y.first()).map_or(1.0, |(last, first)| (last - first).max(1.0));
    let reach = |distance: f64| width * (distance.max(0.0) / height).sqrt();
    edges.iter().map(|&(from, to)| Arc { y_from: y[from], y_to: y[to], reach: reach(y[to] - y[from]) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_arc_uses_the_width_and_shorter_ones_less() {
        let arcs = arcs(&[(0, 2), (0, 1), (1, 2)], &[20.0, 45.0, 120.0], 40.0);
        assert_eq!(arcs[0], Arc { y_from: 20.0, y_to: 120.0, reach: 40.0 });
        assert_eq!([arcs[1].reach, arcs[2].reach], [20.0, 40.0 * 0.75_f64.sqrt()]);
        assert_eq!(arcs[0].path(60.0), "M 60.0 20.0 C 6.7 20.0 6.7 120.0 60.0 120.0");
        assert_eq!(arcs[0].apex(60.0), (20.0, 70.0));
    }
}
