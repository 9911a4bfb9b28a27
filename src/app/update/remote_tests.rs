//! Tests of links to explanations on other sites, as sequences of messages.

use super::tests::{Page, asked};
use crate::app::analysis::example::document;
use crate::app::state::message::{Effect, Message};
use crate::app::state::opened::Opened;
use crate::app::state::origin::Origin;
use crate::app::state::remote::RemoteFailure;
use crate::worker::engine::protocol::EngineEvent;
use crate::worker::envelope::RequestId;

const ADDRESS: &str = "https://example.org/a.json";

fn offered() -> Page {
    let mut page = Page::new();
    assert_eq!(page.visit(None, &format!("#url={ADDRESS}")), [], "nothing is asked yet");
    page
}

/// Agrees, and returns the id of the request.
fn agrees(page: &mut Page) -> RequestId {
    let effects = page.send(Message::FetchRemote);
    let [Effect::FetchRemote(id, address)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(address, ADDRESS);
    *id
}

fn fetched(page: &mut Page, id: RequestId, fetched: Result<Vec<u8>, RemoteFailure>) -> Vec<Effect> {
    page.send(Message::RemoteFetched(id, fetched.map(|bytes| Opened::from_bytes(&bytes, Origin::Link))))
}

#[test]
fn another_site_is_asked_when_the_visitor_agrees() {
    let mut page = offered();
    let id = agrees(&mut page);
    assert_eq!(page.send(Message::FetchRemote), [], "once");
    let effects = fetched(&mut page, id, Ok(document().to_json().into_bytes()));
    assert!(page.look(|state| state.remote().is_none() && state.explanation.document() == Some(&document())));
    assert!(matches!(&effects[..], [Effect::ReplaceEntry { address, text: Some(_) }] if address.ends_with(&format!("#url={ADDRESS}"))));
}

#[test]
fn declining_remote_link_restores_page_without_link() {
    let mut page = offered();
    let effects = page.send(Message::DeclineRemote);
    assert!(matches!(&effects[..], [Effect::ReplaceEntry { address, .. }] if !address.contains('#')));
    assert!(page.look(|state| state.remote().is_none() && state.problem.is_none()));
}

#[test]
fn declining_aborts_pending_fetch() {
    let mut page = offered();
    agrees(&mut page);
    assert!(matches!(&page.send(Message::DeclineRemote)[..], [Effect::AbortRemote, Effect::ReplaceEntry { .. }]));
}

#[test]
fn failed_remote_fetch_names_host_and_allows_retry() {
    let failures = [
        Err(RemoteFailure::NotReached),
        Err(RemoteFailure::TooSlow),
        Err(RemoteFailure::TooLarge),
        Err(RemoteFailure::Status(404)),
        Err(RemoteFailure::MediaType("video/mp4".into())),
        Ok(b"<!doctype html>".to_vec()),
    ];
    let mut page = offered();
    for failure in failures {
        let id = agrees(&mut page);
        fetched(&mut page, id, failure);
        let problem = page.look(|state| state.problem.as_ref().map(ToString::to_string)).expect("words");
        assert!(problem.contains("example.org"), "{problem}");
    }
}

#[test]
fn an_address_that_is_none_is_said() {
    let mut page = Page::new();
    page.visit(None, "#url=http://example.org/a.json");
    assert!(page.look(|state| state.remote().is_none() && state.problem.is_some()));
}

#[test]
fn another_visit_takes_the_question_away() {
    let mut page = offered();
    page.visit(None, "");
    assert!(page.look(|state| state.remote().is_none()));
}

#[test]
fn a_run_of_the_visitors_own_takes_the_question_away() {
    let mut page = Page::ready();
    page.visit(None, &format!("#url={ADDRESS}"));
    let run = asked(&page.send(Message::Explain));
    let id = agrees(&mut page);
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    assert_eq!(fetched(&mut page, id, Ok(document().to_json().into_bytes())), [], "it would take the place of what was computed");
}

#[test]
fn late_failure_does_not_end_newer_fetch() {
    let mut page = offered();
    let early = agrees(&mut page);
    page.send(Message::DeclineRemote);
    page.visit(None, &format!("#url={ADDRESS}"));
    let late = agrees(&mut page);
    fetched(&mut page, early, Err(RemoteFailure::TooSlow));
    assert!(page.look(|state| state.problem.is_none()));
    fetched(&mut page, late, Ok(document().to_json().into_bytes()));
    assert!(page.shown().is_some());
}

#[test]
fn the_logo_declines() {
    let mut page = offered();
    page.send(Message::GoHome);
    assert!(page.look(|state| state.remote().is_none()));
}
