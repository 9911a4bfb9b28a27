use std::time::Duration;

use leptos::html::Div;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;

use crate::app::analysis::walk::{PathEntry, WalkStop, strongest_paths, walk};
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;

/// Time for a text of this many characters during playback: 2 s, plus about 1 s per 12 characters, a relaxed reading speed.
fn rest(characters: usize) -> Duration {
    Duration::from_millis(2000 + 85 * characters as u64)
}

/// Choice of the strongest paths, and the walk back along the chosen one, step by step.
#[component]
pub fn WalkView(
    /// Sources that the walk has visited, explained sentence first. Empty if no walk is in progress.
    walked: RwSignal<Vec<usize>>,
) -> impl IntoView {
    let page = use_page();
    let paths = Memo::new(move |_| page.attribution(strongest_paths).unwrap_or_default());
    let chosen = RwSignal::new(None::<usize>);
    let at = RwSignal::new(0_usize);
    let stops = Memo::new(move |_| {
        let sources = paths.with(|(paths, _)| Some(paths.get(chosen.get()?)?.sources.clone()));
        sources.and_then(|sources| page.attribution(|attribution| walk(attribution, &sources))).unwrap_or_default()
    });
    // Reset the walk if another sentence is explained.
    Effect::new(move |_| {
        paths.track();
        chosen.set(None);
    });
    Effect::new(move |_| {
        let so_far = stops.with(|stops| stops.iter().take(at.get() + 1).map(|stop| stop.source).collect());
        walked.set(so_far);
    });
    on_cleanup(move || {
        walked.try_set(Vec::new());
    });
    let choose = move |k: usize| {
        at.set(0);
        chosen.update(|chosen| *chosen = if *chosen == Some(k) { None } else { Some(k) });
    };
    let entries = move || {
        let entry = |(k, entry): (usize, PathEntry)| {
            let PathEntry { chain, figure, words, .. } = entry;
            view! {
                <li>
                    <button
                        type="button"
                        class="chip"
                        data-testid=format!("path-{}", k + 1)
                        aria-pressed=move || (chosen.get() == Some(k)).to_string()
                        title=words
                        on:click=move |_| choose(k)
                    >
                        {chain}
                        " "
                        <b>{figure}</b>
                    </button>
                </li>
            }
        };
        paths.get().0.into_iter().enumerate().map(entry).collect_view()
    };
    let others = move || paths.with(|(_, others)| others.as_ref().map(|others| t!("All other paths together: {others}.", others)));
    view! {
        <div class="walk" hidden=move || paths.with(|(paths, _)| paths.is_empty())>
            <h3>{t!("Strongest paths")}</h3>
            <ol data-testid="paths">{entries}</ol>
            <p class="hint">
                {move || if chosen.get().is_some() { None } else { Some(t!("Choose a path to follow it back step by step.")) }}
                " "
                {others}
            </p>
            <Show when=move || stops.with(|stops| !stops.is_empty())>
                <Controls stops at />
            </Show>
        </div>
    }
}

/// Buttons Previous, Play or Pause, and Next, and the description of the current sentence.
#[component]
fn Controls(stops: Memo<Vec<WalkStop>>, at: RwSignal<usize>) -> impl IntoView {
    let is_playing = RwSignal::new(false);
    let last = move || stops.with(|stops| stops.len().saturating_sub(1));
    let words = move || stops.with(|stops| stops.get(at.get()).map(|stop| stop.words.clone()));
    let pause = move || is_playing.set(false);
    // During playback, move on when the user had time to read the words.
    Effect::new(move |earlier: Option<Option<TimeoutHandle>>| {
        earlier.flatten().inspect(TimeoutHandle::clear);
        let is_last = at.get() == last();
        if is_last {
            pause();
        }
        let characters = words().map_or(0, |words| words.chars().count());
        // The view may be gone by then.
        let advance = move || at.try_update(|at| *at += 1).unwrap_or_default();
        (is_playing.get() && !is_last).then(|| set_timeout_with_handle(advance, rest(characters)).ok()).flatten()
    });
    let play = move || {
        if at.get_untracked() == untrack(last) {
            at.set(0);
        }
        is_playing.set(true);
    };
    let step = move |to: usize| {
        pause();
        at.set(to);
    };
    let controls = NodeRef::<Div>::new();
    // Scroll to the controls, because the paths fill the window of a phone.
    controls.on_load(|controls| request_animation_frame(move || browser::reveal(&controls)));
    view! {
        <div class="controls" node_ref=controls>
            <button
                type="button"
                data-testid="walk-back"
                aria-disabled=move || (at.get() == 0).to_string()
                on:click=move |_| step(at.get_untracked().saturating_sub(1))
            >
                {t!("Previous")}
            </button>
            <button
                type="button"
                data-testid="walk-play"
                on:click=move |_| if is_playing.get_untracked() { pause() } else { play() }
            >
                {move || if is_playing.get() { t!("Pause") } else { t!("Play") }}
            </button>
            <button
                type="button"
                data-testid="walk-next"
                aria-disabled=move || (at.get() == last()).to_string()
                on:click=move |_| step((at.get_untracked() + 1).min(untrack(last)))
            >
                {t!("Next")}
            </button>
            <span class="hint">{move || t!("{n} of {total}", n = at.get() + 1, total = last() + 1)}</span>
            <p aria-live="polite" data-testid="walk-words">{words}</p>
        </div>
    }
}
