//! Invariants of the method on random tables, checked with an independent dense implementation.

#![cfg(not(target_arch = "wasm32"))]

use glasscage_core::graph::{
    LayeredEdge, LayeredSpace, Normalization, context_attribution, layered, node_influence, normalize, part_influence, prune,
    row_attribution, strongest_paths, total_influence, zero_rows,
};
use glasscage_core::table::Table;
use proptest::prelude::*;

/// Tables of 1..6 prompt and 1..8 generated sentences: scores of any sign, some exactly zero, some not measured.
fn tables() -> impl Strategy<Value = Table> {
    let score = prop_oneof![5 => (-3.0..6.0_f64).prop_map(Some), 2 => Just(Some(0.0)), 1 => Just(Some(-1.0)), 1 => Just(None)];
    (1..6_usize, 1..8_usize).prop_flat_map(move |(n, m)| {
        proptest::collection::vec(score.clone(), m * (n + m)).prop_map(move |cells| Table::from_fn(n, m, |i, j| cells[i * (n + m) + j]))
    })
}

/// The paper's square matrix A: `n` zero rows for the prompt, then the generated sentences.
fn square(adjacency: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    let size = n + adjacency.len();
    std::iter::repeat_n(vec![0.0; size], n).chain(adjacency.iter().cloned()).collect()
}

fn multiply(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let cell = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, b_row)| x * b_row[j]).sum();
    a.iter().map(|row| (0..b.len()).map(|j| cell(row, j)).collect()).collect()
}

/// Inverse by Gauss-Jordan elimination with partial pivoting.
fn inverse(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = a.len();
    for (i, row) in a.iter_mut().enumerate() {
        row.extend((0..size).map(|j| f64::from(u8::from(i == j))));
    }
    for column in 0..size {
        let pivot = (column..size).max_by(|&x, &y| a[x][column].abs().total_cmp(&a[y][column].abs())).unwrap();
        a.swap(column, pivot);
        let scale = a[column][column];
        a[column].iter_mut().for_each(|x| *x /= scale);
        let pivot_row = a[column].clone();
        for (_, row) in a.iter_mut().enumerate().filter(|&(i, _)| i != column) {
            let factor = row[column];
            row.iter_mut().zip(&pivot_row).for_each(|(x, p)| *x -= factor * p);
        }
    }
    a.into_iter().map(|row| row[size..].to_vec()).collect()
}

/// The rows that row `i` depends on, including itself.
fn ancestry(adjacency: &[Vec<f64>], n: usize, i: usize) -> Vec<usize> {
    let mut rows = vec![i];
    for k in (0..i).rev() {
        if rows.iter().any(|&row| adjacency[row][n + k] != 0.0) {
            rows.push(k);
        }
    }
    rows
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #[test]
    fn adjacency_rows_sum_to_one_or_zero(table in tables()) {
        let adjacency = normalize(&table, Normalization::Full);
        let zero = zero_rows(&adjacency);
        for (i, row) in adjacency.rows().enumerate() {
            let expected = if zero.contains(&i) { 0.0 } else { 1.0 };
            prop_assert!(close(row.iter().sum(), expected));
            prop_assert!(row.iter().all(|&weight| weight >= 0.0));
        }
    }

    #[test]
    fn substitution_equals_the_dense_inverse(table in tables()) {
        for normalization in [Normalization::Full, Normalization::NonNegative, Normalization::None] {
            let n = table.n_prompt();
            let adjacency = normalize(&table, normalization);
            let a = square(&adjacency.to_rectangle(0.0), n);
            let mut identity_minus_a = a.clone();
            for (i, row) in identity_minus_a.iter_mut().enumerate() {
                row.iter_mut().for_each(|x| *x = -*x);
                row[i] += 1.0;
            }
            let dense = multiply(&a, &inverse(identity_minus_a));
            for (ours, dense) in total_influence(&adjacency).to_rectangle(0.0).iter().zip(&dense[n..]) {
                let largest = dense.iter().fold(0.0, |largest: f64, z| largest.max(z.abs()));
                let is_close = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-9 * (1.0 + largest);
                prop_assert!(ours.iter().zip(dense).all(is_close), "{ours:?} {dense:?}");
            }
        }
    }

    #[test]
    fn prompt_influence_sums_to_one_without_zero_ancestors(table in tables()) {
        let adjacency = normalize(&table, Normalization::Full);
        let rows = adjacency.to_rectangle(0.0);
        let zero = zero_rows(&adjacency);
        for (i, row) in total_influence(&adjacency).rows().enumerate() {
            let mass: f64 = row[..table.n_prompt()].iter().sum();
            let whole = !ancestry(&rows, table.n_prompt(), i).iter().any(|row| zero.contains(row));
            let holds = if whole { close(mass, 1.0) } else { mass < 1.0 + 1e-9 };
            prop_assert!(holds, "row {i}: {mass}");
        }
    }

    #[test]
    fn attributions_of_several_outputs_are_sums_of_rows(table in tables(), chosen in proptest::collection::vec(any::<bool>(), 8)) {
        let adjacency = normalize(&table, Normalization::Full);
        let influence = total_influence(&adjacency);
        let output: Vec<usize> = (0..table.n_generated()).filter(|&i| chosen[i]).collect();
        let sum = |row: &dyn Fn(usize) -> f64| output.iter().map(|&i| row(i)).sum::<f64>();
        for (j, v) in node_influence(&adjacency, &output).into_iter().enumerate() {
            prop_assert!(close(v, sum(&|i| influence.get(i, j).copied().unwrap_or(0.0))));
        }
        for j in 0..table.n_prompt() {
            prop_assert!(close(context_attribution(&adjacency, &output)[j], sum(&|i| influence.row(i)[j])));
            prop_assert!(close(row_attribution(&adjacency, &output)[j], sum(&|i| adjacency.row(i)[j])));
        }
    }

    #[test]
    fn the_order_of_prompt_sentences_changes_nothing_but_their_order(table in tables()) {
        let n = table.n_prompt();
        let mirror = |j: usize| if j < n { n - 1 - j } else { j };
        let mirrored = Table::from_fn(n, table.n_generated(), |i, j| table.row(i)[mirror(j)]);
        let last = [table.n_generated() - 1];
        let attribution = |table: &Table| context_attribution(&normalize(table, Normalization::Full), &last);
        let (plain, mirrored) = (attribution(&table), attribution(&mirrored));
        prop_assert!((0..n).all(|j| close(plain[j], mirrored[mirror(j)])));
    }

    #[test]
    fn scaling_a_row_changes_nothing(table in tables(), factor in 1e-3..1e3_f64) {
        let scaled = Table::from_fn(table.n_prompt(), table.n_generated(), |i, j| table.row(i)[j].map(|score| factor * score));
        let (a, b) = (normalize(&table, Normalization::Full), normalize(&scaled, Normalization::Full));
        prop_assert!(a.rows().flatten().zip(b.rows().flatten()).all(|(&x, &y)| close(x, y)));
    }

    #[test]
    fn part_with_source_effect_has_source_influence(table in tables(), chosen in proptest::collection::vec(any::<bool>(), 8)) {
        let output: Vec<usize> = (0..table.n_generated()).filter(|&i| chosen[i]).collect();
        for normalization in [Normalization::Full, Normalization::NonNegative, Normalization::None] {
            let influence = node_influence(&normalize(&table, normalization), &output);
            for (j, whole) in influence.into_iter().enumerate() {
                let scores: Vec<f64> = table.rows_after(j).map(|i| table.row(i)[j].unwrap_or(0.0)).collect();
                let part = part_influence(&table, normalization, &scores, &output);
                prop_assert!(close(part, whole), "{normalization:?} {j}: {part} {whole}");
            }
        }
    }

    #[test]
    fn prune_keeps_requested_share_with_fewest_edges(table in tables(), share in 0.0..=1.0_f64) {
        let adjacency = normalize(&table, Normalization::Full);
        let output = [table.n_generated() - 1];
        let pruned = prune(&adjacency, &output, share);
        prop_assert!(pruned.kept_share >= share - 1e-9);
        let total: f64 = prune(&adjacency, &output, 1.0).edges.iter().map(|edge| edge.flow).sum();
        let without_last: f64 = pruned.edges.iter().rev().skip(1).map(|edge| edge.flow).sum();
        prop_assert!(pruned.edges.is_empty() || without_last < share * total + 1e-9);
    }

    #[test]
    fn paths_add_up_to_the_context_attribution(table in tables()) {
        let adjacency = normalize(&table, Normalization::Full);
        let output = [table.n_generated() - 1];
        let paths = strongest_paths(&adjacency, &output, 100_000);
        prop_assert!(paths.is_sorted_by(|a, b| a.weight >= b.weight));
        for (j, exact) in context_attribution(&adjacency, &output).into_iter().enumerate() {
            prop_assert!(close(paths.iter().filter(|path| path.sources[0] == j).map(|path| path.weight).sum(), exact));
        }
    }

    #[test]
    fn a_layered_drawing_keeps_its_promises(table in tables(), width in 120.0..900.0_f64) {
        let adjacency = normalize(&table, Normalization::Full);
        let n = table.n_prompt();
        let last = table.n_generated() - 1;
        let edges: Vec<LayeredEdge> = prune(&adjacency, &[last], 0.9)
            .edges.iter().map(|edge| LayeredEdge { from: edge.from, to: n + edge.to, flow: edge.flow }).collect();
        let space = LayeredSpace { width, node_width: 100.0, gap: 10.0, thickness: 30.0 };
        let drawing = layered(&edges, &[n + last], &space);
        let backward = layered(&edges.iter().rev().copied().collect::<Vec<_>>(), &[n + last], &space);
        prop_assert_eq!(&backward.nodes, &drawing.nodes);
        prop_assert!(backward.routes.iter().rev().eq(&drawing.routes), "the order of the edges does not matter");
        let node = |source: usize| drawing.nodes.iter().find(|node| node.source == source).expect("it is drawn");
        prop_assert_eq!(node(n + last).layer, drawing.n_layers - 1);
        for (edge, route) in edges.iter().zip(&drawing.routes) {
            prop_assert_eq!(node(edge.from).layer + route.len(), node(edge.to).layer + 1);
            prop_assert!(route.len() >= 2 && route.iter().all(|x| x.is_finite()));
        }
        for (k, a) in drawing.nodes.iter().enumerate() {
            prop_assert!(a.x >= 49.9 && a.x <= width - 49.9, "{} is outside", a.source);
            for b in drawing.nodes[k + 1..].iter().filter(|b| b.layer == a.layer) {
                prop_assert!((a.x - b.x).abs() >= 109.9, "{} and {} overlap", a.source, b.source);
            }
        }
    }
}
