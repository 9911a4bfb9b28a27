//! Tests of Back and Forward, as sequences of messages.

use super::tests::{Page, answered, asked, unmeasured};
use crate::app::analysis::example::document;
use crate::app::gallery::GalleryEntry;
use crate::app::state::State;
use crate::app::state::message::{EditorMessage, Effect, ExplanationMessage, Fetch, Message};
use crate::app::state::opened::Opened;
use crate::app::state::origin::Origin;
use crate::explanation::to_fragment;
use crate::worker::engine::protocol::EngineEvent;
use glasscage_message::message;

const HOME: &str = "https://a.b/c/";

/// The states of the history entries that these effects push.
fn pushed(effects: &[Effect]) -> Vec<Option<String>> {
    let text = |effect: &Effect| if let Effect::PushEntry { text, .. } = effect { Some(text.clone()) } else { None };
    effects.iter().filter_map(text).collect()
}

/// Address and state of the history entry that these effects replace.
fn replaced(effects: &[Effect]) -> (String, Option<String>) {
    let entry =
        |effect: &Effect| if let Effect::ReplaceEntry { address, text } = effect { Some((address.clone(), text.clone())) } else { None };
    effects.iter().find_map(entry).expect("an entry is replaced")
}

#[test]
fn every_explanation_is_an_entry_and_comes_back_with_it() {
    let mut page = Page::ready();
    let effects = page.send(Message::Explain);
    assert_eq!(pushed(&effects), [None], "it is made when the visitor asks");
    let run = asked(&effects);
    assert!(replaced(&page.engine(run, answered(unmeasured()))).1.is_some());
    let (address, entry) = replaced(&page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None }));
    assert_eq!(address, HOME);
    page.visit(None, "");
    assert!(page.shown().is_none() && page.look(|state| *state.editor.is_open));
    assert!(page.visit(entry.as_deref(), "").is_empty(), "the browser is there already");
    assert_eq!(page.look(|state| state.explanation.document().cloned()), Some(document()));
    assert_eq!(page.look(|state| state.explanation.shown.as_ref().unwrap().origin), Origin::Here);
}

#[test]
fn opened_link_keeps_address_and_stores_explanation() {
    let mut page = Page::ready();
    let fragment = to_fragment(&document());
    let (address, entry) = replaced(&page.visit(None, &format!("#{fragment}")));
    assert_eq!(address, format!("{HOME}#{fragment}"));
    let effects = page.send(Message::Recompute);
    assert!(matches!(&pushed(&effects)[..], [Some(_)]), "Back leads to the link, and until the answer is there, it stays: {effects:?}");
    let run = asked(&effects);
    assert_eq!(replaced(&page.engine(run, answered(unmeasured()))).0, HOME);
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    page.visit(entry.as_deref(), &fragment);
    assert_eq!(page.look(|state| state.explanation.shown.as_ref().unwrap().origin), Origin::Link);
}

#[test]
fn gallery_address_stays_until_another_explanation_appears() {
    let entry = GalleryEntry { title: "Figs".into(), about: "How many?".into(), right: None, file: "01-figs.json".into() };
    let mut page = Page::ready();
    let asked_for = page.send(Message::OpenGalleryEntry(entry.clone()));
    let effects = page.arrives(&asked_for, document().to_json());
    let examples = Effect::Fetch(Fetch::Examples);
    let [first, Effect::PushEntry { address, text }, Effect::ScrollToExplanation] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((first, address), (&examples, &format!("{HOME}#gallery=01-figs")), "the examples name the right answer");
    // The same happens after a reload, and for visitors who only have the address.
    let mut later = Page::ready();
    assert_eq!(later.visit(text.as_deref(), "#gallery=01-figs"), [examples]);
    assert_eq!(later.look(|state| state.explanation.shown.as_ref().unwrap().origin), Origin::Gallery);
    assert_eq!(Page::ready().visit(None, "#gallery=01-figs").len(), 1, "it is fetched");
    let run = asked(&page.send(Message::Recompute));
    assert_eq!(replaced(&page.engine(run, answered(unmeasured()))).0, HOME, "this one is made here");
}

#[test]
fn selection_is_stored_when_visitor_rests() {
    let mut page = Page::explained();
    let select = |row| ExplanationMessage::Select { row, extend: false };
    let effects = page.send(select(1));
    assert!(matches!(&effects[..], [Effect::After { message, .. }] if **message == Message::SelectionRests(vec![1])), "{effects:?}");
    page.send(select(0));
    assert_eq!(page.send(select(0)), [], "it is the same");
    assert_eq!(page.send(Message::SelectionRests(vec![1])), [], "it has changed again");
    let effects = page.send(Message::SelectionRests(vec![0]));
    let [Effect::UpdateEntry(text)] = &effects[..] else { panic!("{effects:?}") };
    let mut later = Page::new();
    later.visit(Some(text), "");
    assert_eq!(later.look(|state| state.explanation.output.clone()), [0]);
    assert_eq!(later.send(ExplanationMessage::Escape).len(), 1);
    assert_eq!(Page::new().send(Message::SelectionRests(vec![])), [], "nothing is on screen");
}

#[test]
fn the_logo_leads_home_and_back_leads_back() {
    let mut page = Page::explained();
    assert_eq!(pushed(&page.send(Message::GoHome)), [None]);
    assert!(page.shown().is_none());
    assert!(page.send(Message::GoHome).is_empty());
}

#[test]
fn new_prompt_closes_explanation_and_reserves_entry() {
    let mut page = Page::explained();
    page.send(EditorMessage::PromptTyped("Another?".into()));
    let effects = page.send(Message::Explain);
    assert_eq!((pushed(&effects), page.shown()), (vec![None], None));
    page.engine(asked(&effects), EngineEvent::Failed(crate::problem::Problem::new(message!("too long"), message!("shorten it"))));
    assert!(page.shown().is_none());
    let again = page.send(Message::Explain);
    assert!(pushed(&again).is_empty());
    assert!(replaced(&page.engine(asked(&again), answered(unmeasured()))).1.is_some());
}

#[test]
fn failed_run_leaves_entry_for_next_content() {
    let mut page = Page::explained();
    let effects = page.send(Message::Recompute);
    page.engine(asked(&effects), EngineEvent::Failed(crate::problem::Problem::new(message!("too long"), message!("shorten it"))));
    let effects = page.send(Message::GoHome);
    assert_eq!((pushed(&effects), replaced(&effects).1), (vec![], None));
}

#[test]
fn navigation_during_run_returns_to_screen_content() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.engine(run, answered(unmeasured()));
    let effects = page.visit(None, "");
    assert!(matches!(&pushed(&effects)[..], [Some(_)]) && page.shown().is_some());
    assert!(page.problem().contains("Press Stop first"));
}

#[test]
fn address_without_link_is_no_error() {
    let mut page = Page::ready();
    page.visit(None, "#utm_source=x");
    assert_eq!((page.problem(), page.shown()), (String::new(), None));
}

#[test]
fn first_run_replaces_welcome_explanation() {
    let mut page = Page::ready();
    page.send(EditorMessage::PromptTyped(String::new()));
    assert!(page.visit(None, "").is_empty(), "it is no entry of the history");
    assert!(page.look(|state| state.explanation.is_home() && state.explanation.shown.is_some() && !*state.editor.is_open));
    assert_eq!(page.look(State::title), "Glasscage: why did the model give this answer?");
    assert!(page.send(Message::GoHome).is_empty(), "this is home");
    page.send(EditorMessage::PromptTyped("Why?".into()));
    let effects = page.send(Message::Explain);
    assert_eq!((page.shown(), pushed(&effects)), (None, vec![None]));
    page.engine(asked(&effects), answered(unmeasured()));
    assert!(page.look(|state| !state.explanation.is_home()));
}

#[test]
fn late_link_does_not_replace_newer_content() {
    let mut page = Page::ready();
    let fragment = to_fragment(&document());
    let effects = page.send(Message::Visited { entry: None, fragment: format!("#{fragment}") });
    let [Effect::OpenLink(id, link)] = &effects[..] else { panic!("the link is opened: {effects:?}") };
    let (id, link) = (*id, link.clone());
    let run = asked(&page.send(Message::Explain));
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    let opened = Opened::from_bytes(link.as_bytes(), Origin::Link);
    assert_eq!(page.send(Message::LinkOpened { id, link, opened }), []);
    assert_eq!(page.look(|state| state.explanation.shown.as_ref().unwrap().origin), Origin::Here);
}

#[test]
fn a_link_goes_into_the_address_and_onto_the_clipboard() {
    let mut page = Page::explained();
    assert!(page.send(Message::CopyLink).is_empty() && page.look(|state| state.explanation.link.is_none()));
    let fragment = page.look(|state| to_fragment(&state.explanation.selected_document().unwrap()));
    let effects = page.send(Message::LinkEncoded(fragment));
    let address = page.look(|state| state.explanation.link.as_ref().unwrap().address.clone());
    assert!(address.starts_with("https://a.b/c/#g3."));
    assert!(matches!(&effects[..], [Effect::ReplaceEntry { address: replaced, .. }, Effect::CopyToClipboard(copied)]
        if *replaced == address && *copied == address));
    page.send(Message::LinkCopied { address: "https://a.b/c/#earlier".into(), is_copied: true });
    assert!(!page.look(|state| state.explanation.link.as_ref().unwrap().is_copied), "another link was");
    page.send(Message::LinkCopied { address: address.clone(), is_copied: true });
    assert!(page.look(|state| state.explanation.link.as_ref().unwrap().is_copied));
    page.send(ExplanationMessage::Escape);
    assert!(page.look(|state| state.explanation.link.is_none()));

    page.visit(None, address.split_once("/#").unwrap().1);
    assert_eq!(page.look(|state| state.explanation.shown.as_ref().unwrap().origin), Origin::Link);
    page.visit(None, "#g1.damaged");
    assert!(!page.problem().is_empty() && page.shown().is_none());
}
