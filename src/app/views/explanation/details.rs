use leptos::prelude::*;

use super::details_part::{self, DetailsPart};
use super::manifest::ManifestView;
use super::numeric_details::NumericDetails;
use super::share_bar::ShareBar;
use super::thought_view::ThoughtPlace;
use crate::app::analysis::share_texts::{self, Amount};
use crate::app::analysis::{joint_effects, number, thought};
use crate::app::i18n::{following, t, text};
use crate::app::page::use_page;
use crate::app::state::message::Message;
use crate::app::views::layout::lazy::{LazyPart, LazyView};
use crate::explanation::{MethodText, NATS};
use crate::shares::{Evidence, Shares, little_support};

const MAX_SOURCES: usize = 5;
const MAX_STEPS: usize = 4;

/// Describes the explained sentences: strongest sources, steps in between, and quality of the evidence.
#[component]
pub fn Details() -> impl IntoView {
    let page = use_page();
    let title = move || page.attribution(share_texts::output_label).map(|label| t!("Why {label}?", label));
    let is_preview = move || page.with(|state| *state.explanation.preview).is_some();
    let quote = move || page.attribution(quoted);
    let verdict = Memo::new(move |_| page.attribution(Shares::evidence).filter(|_| !page.is_busy()));
    let entries = move |of: fn(&Shares) -> Vec<usize>, most: usize| {
        let first = |attribution: &Shares| (!attribution.is_unsupported()).then(|| Entry::first(attribution, &of(attribution), most));
        page.attribution(first).flatten().unwrap_or_default()
    };
    let sources = Memo::new(move |_| entries(Shares::strongest_sources, MAX_SOURCES));
    let steps = Memo::new(move |_| entries(Shares::strongest_steps, MAX_STEPS));
    // Missing scores of a partial table are not lost influence.
    let is_whole = move || page.attribution(|attribution| attribution.document().is_complete()) == Some(true);
    let lost = move || page.attribution(Shares::lost_share).filter(|&share| share >= 0.005 && is_whole());
    let can_teach = move || !page.is_viewer() && page.with(|state| state.lesson().is_none()) && !page.is_busy();
    let has_thought = Memo::new(move |_| page.attribution(|attribution| thought::rows(attribution.document())).flatten().is_some());
    let part = LazyPart::new(details_part::fetch);
    let may_show_contrasts = Memo::new(move |_| {
        page.with(|state| {
            let has_contrasts = || state.explanation.document().is_some_and(|document| !document.contrasts.is_empty());
            // In a lesson, the reader cannot ask for one.
            !state.explanation.is_home() && (state.lesson().is_none() || has_contrasts())
        })
    });
    let has_ranges =
        move || [sources, steps].iter().any(|entries| entries.with(|entries| entries.iter().any(|entry| entry.range.is_some())));
    view! {
        <section class="details card" aria-label=t!("Details")>
            <h3>
                {title}
                <Show when=is_preview><span class="tag">{t!("preview")}</span></Show>
            </h3>
            <blockquote dir="auto">{quote}</blockquote>
            {move || {
                let of_scores = page
                    .attribution(|attribution| {
                        let least = little_support(&attribution.document().manifest.model);
                        (attribution.method(), share_texts::score_unit(attribution).to_owned(), least)
                    });
                verdict.get().zip(of_scores).map(|(evidence, (method, unit, least))| view! { <Verdict evidence method unit least /> })
            }}
            <p class="hint">
                {t!("This shows what the answer depends on, not whether it is correct.")}
                {move || page.right_answer().map(|answer| following(&t!("The right answer is {answer}.", answer)))}
            </p>
            <Show when=move || has_thought.get()>
                <LazyView part view=details_part::shows(DetailsPart::Thought(ThoughtPlace::Details)) />
            </Show>
            <Entries title=t!("Strongest sources") entries=sources />
            <JointEffects />
            <Entries title=t!("Steps in between") entries=steps />
            <Show when=has_ranges>
                <p class="hint">{t!("Ranges: the joint effect of two sources can be credited to either one.")}</p>
            </Show>
            {move || lost().map(|share| view! {
                <p
                    class="note"
                >
                    {t!(
                        "{share} of the influence ends at a step without a measurable source, so the shares of the prompt add up to \
                         less than 100%.",
                        share = number::percent(share),
                    )}
                </p>
            })}
            <Show when=move || may_show_contrasts.get()>
                <LazyView part view=details_part::shows(DetailsPart::Contrasts) />
            </Show>
            <ManifestView />
            <Show when=can_teach>
                <button type="button" class="quiet" data-testid="make-lesson" on:click=move |_| page.send(Message::MakeLesson)>
                    {t!("Make a lesson of this")}
                </button>
            </Show>
        </section>
    }
}

/// The explained text, in one line.
fn quoted(attribution: &Shares) -> String {
    let n_prompt = attribution.n_prompt();
    let texts: Vec<&str> = attribution.output().iter().map(|i| attribution.document().source(n_prompt + i).trim()).collect();
    texts.join(" \u{2026} ")
}

#[component]
fn Verdict(evidence: Evidence, method: &'static MethodText, unit: String, least: f64) -> impl IntoView {
    let score = text(method.score);
    let added_up = |mass: f64| {
        let mass = number::signed(mass);
        t!("{mass} {unit}: {score}, added up over its sources.", mass, unit, score)
    };
    let (class, words, exactly) = match evidence {
        Evidence::Clear(mass) if method.weak == 0.0 => {
            ("verdict", t!("This method has no scale that tells strong scores from weak ones.").to_owned(), Some(added_up(mass)))
        }
        Evidence::Clear(mass) => {
            ("verdict", t!("Clear evidence: the shares below split a large measured effect.").to_owned(), Some(added_up(mass)))
        }
        Evidence::Weak(mass) => {
            let weak = number::with_point(&method.weak.to_string());
            let exactly = added_up(mass) + &following(&t!("Evidence below {weak} counts as weak.", weak));
            ("verdict warn", t!("Weak evidence: the shares below split a very small effect, so they mean little.").into(), Some(exactly))
        }
        Evidence::Unsupported(support) => {
            let (support, least) = (number::signed(support), number::with_point(&least.to_string()));
            let exactly = t!(
                "Without what the prompt states, a word of this loses at most {support} nats. Less than {least} counts as no support.",
                support,
                least
            );
            ("verdict warn", t!("Nothing in the prompt supports this.").into(), Some(exactly))
        }
        Evidence::None => ("verdict warn", t!("No measurable source: {score} is never above zero.", score), None),
        Evidence::Unmeasured => ("verdict warn", t!("Not fully measured: the run was stopped.").into(), None),
    };
    let in_words = (method.unit == NATS).then(|| following(t!("One nat less means 2.7 times less likely.")));
    view! {
        <div class=class data-testid="verdict">
            {words} {exactly.map(|exactly| view! { <NumericDetails>{exactly} {in_words}</NumericDetails> })}
        </div>
    }
}

/// One source in a list.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    label: String,
    text: String,
    /// Range of the total influence, if it depends on which of two sentences gets the credit for a joint effect.
    range: Option<String>,
    amounts: [Option<Amount>; 2],
}

impl Entry {
    fn first(attribution: &Shares, sources: &[usize], most: usize) -> Vec<Self> {
        let range = |j: usize| {
            let [low, high] = attribution.range(j)?.map(number::percent);
            (low != high).then(|| t!("{low} to {high}", low, high))
        };
        let entry = |&j: &usize| Self {
            range: range(j).filter(|_| attribution.scale().is_shares()),
            label: attribution.document().label(j),
            text: attribution.document().source(j).trim().to_owned(),
            amounts: share_texts::amounts(attribution, j),
        };
        sources.iter().take(most).map(entry).collect()
    }
}

const MAX_JOINT_EFFECTS: usize = 6;

/// Describes the joint effects of pairs of sources.
#[component]
fn JointEffects() -> impl IntoView {
    let page = use_page();
    let effects = Memo::new(move |_| page.attribution(joint_effects::sentences).filter(|_| !page.is_busy()).unwrap_or_default());
    let items = move || {
        let shown = effects.get().into_iter().take(MAX_JOINT_EFFECTS);
        shown.map(|effect| view! { <li>{effect}</li> }).collect_view()
    };
    view! {
        <Show when=move || effects.with(|effects| !effects.is_empty())>
            <h4>{t!("Joint effects")}</h4>
            <ul class="joint" data-testid="joint-effects">{items}</ul>
        </Show>
    }
}

#[component]
fn Entries(title: &'static str, entries: Memo<Vec<Entry>>) -> impl IntoView {
    let rows = move || {
        let row = |Entry { label, text, range, amounts: [total, direct] }: Entry| {
            view! {
                <tr>
                    <th scope="row">
                        <span class="label">{label}</span>
                        <span class="snippet" dir="auto" title=text.clone()>{text.clone()}</span>
                        {range.map(|range| view! { <span class="range hint" data-testid="range">{range}</span> })}
                    </th>
                    <td><ShareBar amount=Signal::stored(total) /></td>
                    <td class="direct"><ShareBar amount=Signal::stored(direct) /></td>
                </tr>
            }
        };
        entries.get().into_iter().map(row).collect_view()
    };
    view! {
        <Show when=move || entries.with(|entries| !entries.is_empty())>
            <table class="entries">
                <thead>
                    <tr>
                        <th scope="col">{title}</th>
                        <th scope="col">{t!("total")}</th>
                        <th scope="col">{t!("direct")}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::shares;

    #[test]
    fn sources_are_listed_with_both_attributions() {
        let attribution = shares(&[1]);
        let entries = Entry::first(&attribution, &attribution.strongest_sources(), 1);
        let amounts = [0.5, 0.0].map(|share| Some(share_texts::amount(attribution.scale(), share)));
        assert_eq!(entries, [Entry { label: "P1".into(), text: "A.".into(), range: None, amounts }]);
        assert_eq!(quoted(&attribution), "D.");
    }
}
