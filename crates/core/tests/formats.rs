//! The same numbers in every format: documents, links, tables and pictures of random scores.

#![cfg(not(target_arch = "wasm32"))]

use glasscage_core::explanation::{Document, from_fragment, to_fragment};
use glasscage_core::figure::{Options, svg};
use glasscage_core::number::percent_digits;
use glasscage_core::shares::Shares;
use glasscage_core::table::Table;
use glasscage_core::tables::{Contents, Format, table};
use proptest::prelude::*;

const EXAMPLE: &str = include_str!("golden/linked.json");
/// A link stores 16 bits per score: 32767 steps up to the largest of its row. Errors add up along the paths of the graph.
const LINK_TOLERANCE: f64 = 1e-3;

prop_compose! {
    /// The example with other scores; each sentence has a source.
    fn documents()(scores in proptest::collection::vec(prop_oneof![1e-3..8.0_f64, Just(0.0), -8.0..0.0], 80)) -> Document {
        let example = Document::from_json(EXAMPLE).unwrap();
        let (n, m) = (example.table.n_prompt(), example.table.n_generated());
        let cell = |i: usize, j: usize| Some(if j == 0 { 1.0 + scores[i].abs() } else { scores[(i * (n + m) + j) % scores.len()] });
        Document { table: Table::from_fn(n, m, cell), ..example }
    }
}

/// CAGE and row attribution of each source.
fn amounts(document: &Document) -> Vec<[Option<f64>; 2]> {
    let shares = Shares::of(document);
    (0..shares.n_sources()).map(|j| shares.amounts(j)).collect()
}

proptest! {
    #[test]
    fn shares_of_the_prompt_sum_to_one(document in documents()) {
        let shares = Shares::of(&document);
        let total: f64 = (0..shares.n_prompt()).filter_map(|j| shares.total(j)).sum();
        prop_assert!((total - 1.0).abs() < 1e-9, "{total}");
    }

    #[test]
    fn json_keeps_shares_exactly_and_links_nearly(document in documents()) {
        prop_assert_eq!(amounts(&Document::from_json(&document.to_json()).unwrap()), amounts(&document));
        let linked = from_fragment(&to_fragment(&document)).unwrap();
        for (sent, received) in amounts(&document).iter().flatten().zip(amounts(&linked).iter().flatten()) {
            prop_assert!((sent.unwrap() - received.unwrap()).abs() < LINK_TOLERANCE, "{sent:?} {received:?}");
        }
    }

    #[test]
    fn csv_has_the_shares_with_all_digits(document in documents()) {
        let shares = Shares::of(&document);
        let csv = table(&document, Contents::Shares, Format::Csv);
        for (j, line) in csv.lines().skip(1).enumerate().filter(|(j, _)| !shares.has_no_share(*j)) {
            let [total, direct] = shares.amounts(j).map(Option::unwrap);
            prop_assert!(line.contains(&format!(",{total},{direct},")), "{line}");
        }
    }

    #[test]
    fn a_picture_has_the_shares_as_percents(document in documents()) {
        let shares = Shares::of(&document);
        let picture = svg(&document, &Options::default());
        for j in (0..shares.n_prompt()).filter(|&j| !shares.has_no_share(j)) {
            let percent = percent_digits(shares.total(j).unwrap()).replace('<', "&lt;");
            prop_assert!(picture.contains(&format!(">{percent}%<")), "{percent}");
        }
    }
}
