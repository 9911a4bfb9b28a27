//! Tests of lessons, as sequences of messages.

use super::tests::{Page, answered, asked, read, unmeasured};
use crate::app::analysis::example::document;
use crate::app::gallery::GalleryEntry;
use crate::app::state::lesson::tests::lesson;
use crate::app::state::lesson_texts::tests::{TEXTS, english};
use crate::app::state::local_file::{FileId, LocalFile};
use crate::app::state::message::{Effect, ExplanationMessage, Fetch, LessonMessage, Message};
use crate::app::state::origin::Origin;
use crate::app::state::place::Place;
use crate::explanation::Document;
use crate::lesson::{Lesson, to_fragment};
use crate::worker::engine::protocol::EngineEvent;

fn entry() -> GalleryEntry {
    GalleryEntry { title: "A lesson".into(), about: "It has steps.".into(), right: None, file: "lesson-a.json".into() }
}

fn in_lesson() -> Page {
    let mut page = Page::ready();
    let asked = page.send(Message::OpenGalleryEntry(entry()));
    let effects = page.arrives(&asked, lesson().to_json());
    let [Effect::PushEntry { text: Some(text), address }, Effect::ScrollToExplanation] = &effects[..] else { panic!("{effects:?}") };
    assert!(text.starts_with("lesson {\"at\":0,"), "{text}");
    assert_eq!(address, "https://a.b/c/#gallery=lesson-a");
    page
}

fn at(page: &Page) -> Option<usize> {
    page.look(|state| state.lesson().map(|open| open.at))
}

#[test]
fn lesson_step_is_stored_and_shows_its_explanation() {
    let mut page = in_lesson();
    page.send(ExplanationMessage::Select { row: 0, extend: false });
    let effects = page.send(LessonMessage::GoTo(2));
    let [Effect::ReplaceEntry { text: Some(text), .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(at(&page), Some(2));
    assert_eq!(page.look(|state| state.explanation.output.clone()), document().output, "each step begins with its own choice");
    let mut later = Page::ready();
    later.visit(Some(text), "#gallery=lesson-a");
    assert_eq!(at(&later), Some(2));
    let effects = later.send(LessonMessage::GoTo(1));
    assert!(matches!(&effects[..], [Effect::ReplaceEntry { address, .. }] if address.ends_with("#gallery=lesson-a")), "{effects:?}");
    let effects = later.send(LessonMessage::End);
    assert!(matches!(&effects[..], [Effect::ReplaceEntry { address, .. }] if !address.contains('#')), "{effects:?}");
    page.send(LessonMessage::End);
    assert_eq!(at(&page), None);
    assert_eq!(page.look(|state| state.explanation.shown.as_ref().map(|shown| shown.origin)), Some(Origin::Lesson));
}

#[test]
fn answers_survive_reload() {
    let mut page = in_lesson();
    page.send(LessonMessage::GoTo(1));
    page.send(LessonMessage::Mark(1));
    page.send(LessonMessage::Reveal);
    page.send(LessonMessage::GoTo(2));
    let effects = page.send(LessonMessage::Choose(0));
    let [Effect::ReplaceEntry { text: Some(text), .. }] = &effects[..] else { panic!("{effects:?}") };
    let mut later = Page::ready();
    later.visit(Some(text), "#gallery=lesson-a");
    let progress = |page: &Page| page.look(|state| state.lesson().map(|open| open.progress()));
    assert_eq!((progress(&later), at(&later)), (progress(&page), Some(2)));
    later.send(LessonMessage::GoTo(1));
    assert!(later.look(|state| state.lesson().is_some_and(|open| open.required_marks().is_none() && open.answer().marked == [1])));
}

#[test]
fn another_explanation_or_home_ends_the_lesson() {
    let mut page = in_lesson();
    page.send(Message::GoHome);
    assert_eq!(at(&page), None);
    let mut page = in_lesson();
    page.opens(document().to_json());
    assert_eq!(at(&page), None);
    page.opens(lesson().to_json());
    assert_eq!(at(&page), Some(0));
}

#[test]
fn a_link_opens_the_lesson_and_saving_saves_it() {
    let mut page = Page::ready();
    page.visit(None, &format!("#{}", to_fragment(&lesson())));
    assert_eq!(at(&page), Some(0));
    let effects = page.send(Message::SaveDocument);
    assert!(matches!(&effects[..], [Effect::SaveFile { name, .. }] if name == "glasscage-a-lesson.json"), "{effects:?}");
    page.visit(None, "#l1.damaged");
    assert!(at(&page).is_none() && page.look(|state| state.problem.is_some()));
}

#[test]
fn whoever_writes_a_lesson_keeps_what_is_chosen_on_screen() {
    let mut page = Page::explained();
    page.send(Message::MakeLesson);
    assert!(page.look(|state| state.lesson().is_some_and(|open| open.is_edited)));
    page.send(ExplanationMessage::Select { row: 0, extend: false });
    change(&mut page, |lesson| lesson.title = "Mine".into());
    assert_eq!(page.look(|state| state.explanation.output.clone()), [0]);
    page.send(LessonMessage::TakeOutput);
    assert_eq!(page.look(|state| state.lesson().unwrap().step().output.clone()), [0]);
    change(&mut page, |lesson| lesson.title = "x".repeat(1 << 20));
    assert!(page.look(|state| state.problem.is_some() && state.lesson().unwrap().lesson.title == "Mine"), "nothing is lost");
    page.send(LessonMessage::Edit(false));
    assert!(page.look(|state| state.lesson().is_some_and(|open| !open.is_edited)));
}

#[test]
fn changed_gallery_lesson_loses_short_address() {
    let mut page = in_lesson();
    let address = |page: &mut Page| {
        page.send(Message::CopyLink);
        let fragment = page.look(|state| to_fragment(&state.lesson().unwrap().lesson));
        page.send(Message::LinkEncoded(fragment));
        page.look(|state| state.explanation.link.as_ref().map(|link| link.address.clone())).expect("a link")
    };
    assert_eq!(address(&mut page), "https://a.b/c/#gallery=lesson-a");
    let mut changed = lesson();
    changed.title = "Another title".into();
    page.send(LessonMessage::Edit(true));
    page.send(LessonMessage::Change(changed.into()));
    assert!(address(&mut page).contains("#l"));
    let mut later = Page::new();
    let effects = later.visit(None, "#gallery=lesson-a");
    let effects = later.arrives(&effects, lesson().to_json());
    assert!(matches!(&effects[..], [Effect::ReplaceEntry { .. }]), "what comes takes the place of the address: {effects:?}");
    assert_eq!(at(&later), Some(0));
}

#[test]
fn late_lesson_does_not_replace_newer_content() {
    let mut page = Page::ready();
    let asked = page.send(Message::OpenGalleryEntry(entry()));
    page.opens(document().to_json());
    assert_eq!(page.arrives(&asked, lesson().to_json()), []);
    assert_eq!(at(&page), None);
}

fn title(page: &Page) -> Option<String> {
    page.look(|state| state.lesson().map(|open| open.lesson.title.clone()))
}

fn texts(page: &mut Page) -> Vec<Effect> {
    page.send(Message::Fetched(Fetch::LessonTexts("de"), Some(TEXTS.into())))
}

#[test]
fn german_page_fetches_translations_before_lesson() {
    let mut page = Page::in_language("de");
    assert_eq!(page.send(Message::OpenGalleryEntry(entry())), [Effect::Fetch(Fetch::LessonTexts("de"))]);
    let asked = texts(&mut page);
    let effects = page.arrives(&asked, english().to_json());
    let [Effect::PushEntry { text: Some(text), .. }, Effect::ScrollToExplanation] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(title(&page).as_deref(), Some("Eine Lektion"));
    page.send(Message::CopyLink);
    assert!(page.look(|state| state.explanation.link.as_ref().is_some_and(|link| link.address.ends_with("#gallery=lesson-a"))));
    let mut in_english = Page::in_language("en");
    assert_eq!(
        (in_english.visit(Some(text), ""), title(&in_english).as_deref()),
        (vec![], Some("A lesson")),
        "it is kept as it was written"
    );
    let mut in_german = Page::in_language("de");
    assert_eq!(in_german.visit(Some(text), ""), [Effect::Fetch(Fetch::LessonTexts("de"))]);
    assert_eq!((texts(&mut in_german), title(&in_german).as_deref()), (vec![], Some("Eine Lektion")));
}

#[test]
fn edited_lesson_keeps_language_shown_to_author() {
    let mut page = Page::in_language("de");
    texts(&mut page);
    page.visit(None, &format!("#{}", to_fragment(&english())));
    page.send(LessonMessage::Edit(true));
    let mut changed = page.look(|state| Lesson::clone(&state.lesson().unwrap().lesson));
    assert_eq!((changed.title.as_str(), changed.language.as_deref()), ("Eine Lektion", Some("de")));
    changed.steps.truncate(1);
    page.send(LessonMessage::Change(changed.clone().into()));
    assert!(page.look(|state| *state.lesson().unwrap().written == changed));
    let mut own = Page::in_language("de");
    assert_eq!(own.visit(None, &format!("#{}", to_fragment(&lesson()))).len(), 1, "nothing is fetched for a lesson of a visitor");
    own.send(Message::GoHome);
    own.opens(document().to_json());
    own.send(Message::MakeLesson);
    assert!(own.look(|state| state.lesson().is_some_and(|open| open.lesson.language.as_deref() == Some("de"))));
}

fn change(page: &mut Page, change: impl FnOnce(&mut Lesson)) -> Vec<Effect> {
    let mut lesson = page.look(|state| Lesson::clone(&state.lesson().unwrap().lesson));
    change(&mut lesson);
    page.send(LessonMessage::Change(Box::new(lesson)))
}

#[test]
fn lesson_edits_can_be_undone_and_redone() {
    let mut page = in_lesson();
    let now = |page: &Page| page.look(|state| state.lesson().map(|open| (Lesson::clone(&open.lesson), open.at)).unwrap());
    page.send(LessonMessage::Edit(true));
    page.send(LessonMessage::GoTo(1));
    let mut versions = vec![now(&page)];
    let changes: [fn(&mut Lesson); 4] = [
        |lesson| lesson.steps[1].text = "Other words.".into(),
        |lesson| lesson.steps.swap(1, 2),
        |lesson| drop(lesson.steps.remove(0)),
        |lesson| lesson.steps[0].output = vec![0],
    ];
    for step in changes {
        change(&mut page, step);
        versions.push(now(&page));
    }
    assert_eq!(change(&mut page, |_| ()).len(), 1, "what changes nothing is no version");
    for version in versions.iter().rev().skip(1) {
        let effects = page.send(LessonMessage::Undo);
        assert!(matches!(&effects[..], [Effect::ReplaceEntry { text: Some(_), .. }]), "a reload shows it, too: {effects:?}");
        assert_eq!(
            (&now(&page), page.look(|state| state.explanation.output.clone())),
            (version, version.0.document(&version.0.steps[version.1]).output)
        );
    }
    assert_eq!(page.send(LessonMessage::Undo), [], "nothing is before the first");
    for version in &versions[1..] {
        page.send(LessonMessage::Redo);
        assert_eq!(&now(&page).0, &version.0);
    }
    assert_eq!(page.send(LessonMessage::Redo), []);
    page.send(LessonMessage::Edit(false));
    assert_eq!(page.send(LessonMessage::Undo), [], "readers undo nothing");
    page.send(LessonMessage::Edit(true));
    page.send(LessonMessage::Undo);
    assert_eq!(now(&page).0, versions[3].0, "trying it out forgets nothing");
}

/// The test document, explained by another method.
fn other() -> Document {
    let mut other = document();
    other.method.id = "clp".into();
    other
}

fn explanations(page: &Page) -> Vec<String> {
    page.look(|state| state.lesson().unwrap().lesson.explanations.iter().map(|document| document.method.id.clone()).collect())
}

#[test]
fn explanations_come_from_files_and_links_and_each_once() {
    let mut page = in_lesson();
    page.send(LessonMessage::Edit(true));
    let own = document().method.id;
    let file = LocalFile { id: FileId(0), name: "b.json".into(), bytes: 1, modified_millis: 0.0 };
    let id = read(&page.send(LessonMessage::AddFiles(vec![file])));
    page.reads(id, other().to_json());
    assert_eq!((explanations(&page), at(&page)), (vec![own.clone(), "clp".into()], Some(0)), "the lesson stays on screen");
    let link = format!("https://a.b/c/#{}", crate::explanation::to_fragment(&other()));
    for refused in [link.as_str(), "https://a.b/c/", "nothing", ""] {
        page.send_and_open(LessonMessage::AddLink(refused.into()));
        assert!(page.look(|state| state.problem.is_some() && state.problem_place == Place::Lesson), "{refused}");
        assert_eq!(explanations(&page).len(), 2);
    }
    page.send(LessonMessage::Undo);
    page.send_and_open(LessonMessage::AddLink(link));
    assert_eq!((explanations(&page), page.look(|state| state.problem.is_none())), (vec![own.clone(), "clp".into()], true));
    change(&mut page, |lesson| lesson.show_in_step(0, 1));
    assert_eq!(page.shown().as_deref(), Some("clp"), "the step shows it");
    let short = Message::Lesson(LessonMessage::AddLink("https://a.b/c/#gallery=lesson-b".into()));
    let effects = page.send(short);
    let mut third = other();
    third.method.id = "ig".into();
    let of_gallery = Lesson { explanations: vec![document(), third], ..lesson() };
    page.arrives(&effects, of_gallery.to_json());
    assert_eq!((explanations(&page), at(&page)), (vec![own, "clp".into(), "ig".into()], Some(0)), "short links, too");
    page.opens(other().to_json());
    assert_eq!(at(&page), None, "a file that is opened now is shown by itself");
}

#[test]
fn seen_explanations_can_be_added() {
    let recent_explanations = |page: &Page| {
        page.look(|state| state.explanation.recent_explanations().map(|document| document.method.id.clone()).collect::<Vec<_>>())
    };
    let mut page = Page::explained();
    assert_eq!(recent_explanations(&page), [""; 0], "what is on screen is not behind it");
    page.opens(other().to_json());
    page.send(Message::MakeLesson);
    assert_eq!(recent_explanations(&page), ["clp".to_owned(), document().method.id]);
}

#[test]
fn hidden_parts_affect_only_copied_link() {
    let mut page = in_lesson();
    page.send(Message::CopyLink);
    let hidden = "https://a.b/c/?hide=tabs#gallery=lesson-a".to_owned();
    let effects = page.send(Message::ShowInLink { part: "tabs", is_shown: false });
    assert_eq!(effects, [Effect::CopyToClipboard(hidden.clone())], "and the address bar stays");
    page.send(Message::LinkCopied { address: hidden.clone(), is_copied: true });
    assert!(page.look(|state| state.explanation.link.as_ref().is_some_and(|link| link.is_copied && link.address == hidden)));
    page.send(Message::CopyLink);
    assert!(page.look(|state| state.explanation.link.as_ref().is_some_and(|link| link.hidden().is_empty())));
}

#[test]
fn pending_additions_are_dropped_with_their_lesson() {
    let mut page = in_lesson();
    page.send(LessonMessage::Edit(true));
    let file = LocalFile { id: FileId(0), name: "b.json".into(), bytes: 1, modified_millis: 0.0 };
    let of_file = read(&page.send(LessonMessage::AddFiles(vec![file])));
    let of_gallery = page.send(LessonMessage::AddLink("https://a.b/c/#gallery=lesson-b".into()));
    page.visit(None, &format!("#{}", to_fragment(&english())));
    assert_eq!((page.reads(of_file, other().to_json()), page.arrives(&of_gallery, other().to_json())), (vec![], vec![]));
    assert_eq!((explanations(&page).len(), title(&page).as_deref()), (1, Some("A lesson")));
}

#[test]
fn delayed_step_is_shown_after_run() {
    let ends = [EngineEvent::Explained { document: Box::new(document()), problem: None }, EngineEvent::Stopped];
    for end in ends {
        let mut page = Page::ready();
        let steps = Lesson { explanations: vec![document(), other()], ..lesson() };
        page.opens(steps.to_json());
        page.send(LessonMessage::Edit(true));
        change(&mut page, |lesson| lesson.show_in_step(1, 1));
        page.send(LessonMessage::Edit(false));
        let run = asked(&page.send(Message::Recompute));
        page.engine(run, answered(unmeasured()));
        page.send(LessonMessage::GoTo(1));
        let waits = |page: &Page| page.look(|state| state.lesson().is_some_and(|open| open.step_waits));
        let judged = |page: &Page| page.look(|state| state.lesson().unwrap().attribution().document().method.id.clone());
        assert_eq!((waits(&page), judged(&page).as_str()), (true, "clp"), "pupils are judged by their own step");
        assert!(page.shown().as_deref() != Some("clp"), "the run goes on");
        page.engine(run, end);
        assert_eq!((waits(&page), page.shown().as_deref()), (false, Some("clp")));
    }
}

#[test]
fn a_lesson_that_is_left_keeps_what_the_run_makes() {
    let mut page = in_lesson();
    let run = asked(&page.send(Message::Recompute));
    page.send(LessonMessage::GoTo(1));
    page.send(LessonMessage::End);
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    assert_eq!(page.look(|state| state.explanation.shown.as_ref().map(|shown| shown.origin)), Some(Origin::Here));
}

#[test]
fn missing_lesson_translations_are_requested_again() {
    let mut page = Page::in_language("de");
    page.send(Message::OpenGalleryEntry(entry()));
    let asked = page.send(Message::Fetched(Fetch::LessonTexts("de"), None));
    let effects = page.arrives(&asked, english().to_json());
    assert!(effects.contains(&Effect::Fetch(Fetch::LessonTexts("de"))) && title(&page).as_deref() == Some("A lesson"), "{effects:?}");
    page.send(Message::Fetched(Fetch::LessonTexts("de"), None));
    assert!(page.problem().contains("could not be loaded"));
    texts(&mut page);
    assert_eq!(title(&page).as_deref(), Some("Eine Lektion"));
}
