//! The document on screen: text and graph, table, tests, details.

mod arc_diagram;
mod certainty_view;
mod continuations_view;
mod contrast_view;
mod deletion_test_view;
mod derivation_bar;
mod details;
mod details_part;
mod edge_path;
mod element_width;
mod explanation_view;
mod legend;
mod manifest;
mod methods_view;
mod numeric_details;
mod passages_view;
mod path_view;
mod pointer;
mod prune_control;
mod recompute_button;
mod resize;
mod row_positions;
mod sentence_row;
pub mod share_bar;
mod tab;
mod tab_panels;
mod table_view;
mod text_view;
mod thought_view;
mod variant_card;
mod walk_view;
mod welcome_intro;
mod what_if_view;

pub use explanation_view::ExplanationView;
