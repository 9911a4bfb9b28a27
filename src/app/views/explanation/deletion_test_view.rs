use leptos::prelude::*;

use super::numeric_details::NumericDetails;
use crate::app::analysis::deletion_test::{Coverage, DeletionTest, OrderResult, coverages, tested_rows};
use crate::app::analysis::number::{self, signed, with_point};
use crate::app::analysis::share_texts;
use crate::app::i18n::{t, text, translatable};
use crate::app::page::use_page;
use crate::app::state::message::Message;
use crate::app::views::models::model_hint::ModelHint;
use crate::explanation::Unit;

/// CSS class and name of each deletion order.
const ORDERS: [(&str, &str); 3] =
    [("cage", translatable!("CAGE, total")), ("row", translatable!("row, direct")), ("random", translatable!("random order"))];
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 200.0;

/// Tests the explanation: does the answer become less likely when its sources are deleted?
#[component]
pub fn DeletionTestView() -> impl IntoView {
    let page = use_page();
    let about = move || {
        let label = page.attribution(|attribution| {
            let document = attribution.document();
            share_texts::label_of_rows(document, &tested_rows(document, attribution.output()))
        });
        let label = label.unwrap_or_default();
        match page.unit() {
            Unit::Sentence => t!(
                "Sentences of the prompt are deleted one by one, starting with the one that has the most influence on {label}. Each \
                 time, the model’s probability of its answer is measured. The sooner it falls, the better the explanation.",
                label,
            ),
            Unit::Word => t!(
                "Words of the prompt are deleted one by one, starting with the one that has the most influence on {label}. Each time, \
                 the model’s probability of its answer is measured. The sooner it falls, the better the explanation.",
                label,
            ),
            _ => t!(
                "Parts of the prompt are deleted one by one, starting with the one that has the most influence on {label}. Each time, \
                 the model’s probability of its answer is measured. The sooner it falls, the better the explanation.",
                label,
            ),
        }
    };
    let result = move || page.with(|state| state.explanation.deletion_test.clone()).map(|check| view! { <DeletionTestResult check /> });
    let has_earlier = move || page.attribution(|attribution| attribution.document().explains_earlier_answers()) == Some(true);
    view! {
        <p>{about}</p>
        <p class="hint" hidden=move || !has_earlier()>{t!("The test is about the last answer of the conversation.")}</p>
        <p class="go">
            <button
                type="button"
                class="primary"
                data-testid="check-button"
                aria-disabled=move || page.is_busy().to_string()
                on:click=move |_| page.send(Message::MeasureDeletion)
            >
                {t!("Run the test")}
            </button>
            <span class="hint">
                {t!("Takes one forward pass per deletion, in five orders: CAGE, row attribution, and three random ones.")}
            </span>
            <ModelHint />
        </p>
        <Relevant />
        {result}
    }
}

/// Influence of the relevant sentences, for examples in which they are known.
#[component]
fn Relevant() -> impl IntoView {
    let page = use_page();
    let words = Memo::new(move |_| {
        let relevant = page.relevant()?;
        let [cage, row] = page.attribution(|attribution| coverages(attribution, &relevant))??;
        let percent = |Coverage { share, .. }: Coverage| number::percent(share);
        let ac = |Coverage { ac, .. }: Coverage| with_point(&format!("{ac:.2}"));
        let plain = t!(
            "In this example, the relevant sentences are known. Of the influence that comes from the prompt, they receive {cage_share} \
             by CAGE and {row_share} by row attribution.",
            cage_share = percent(cage),
            row_share = percent(row),
        );
        let exact = t!(
            "Here, the influence of the prompt alone counts as 100%. AC (attribution coverage) is the fraction of relevant sentences \
             whose share is between 0.5 and 1.5 times an equal share: {cage_ac} by CAGE, {row_ac} by row attribution.",
            cage_ac = ac(cage),
            row_ac = ac(row),
        );
        Some((plain, exact))
    });
    move || {
        words.get().map(|(plain, exact)| {
            view! {
                <div class="note" data-testid="coverage">
                    {plain}
                    <NumericDetails>{exact}</NumericDetails>
                </div>
            }
        })
    }
}

#[component]
fn DeletionTestResult(check: DeletionTest) -> impl IntoView {
    let DeletionTest { output, derivation, tests, says_nothing, log_probs } = check;
    let rows = tests.iter().zip(ORDERS).map(|(OrderResult { rise, mas, .. }, (class, name))| {
        view! {
            <tr>
                <th scope="row">
                    <svg class=format!("key {class}") viewBox="0 0 28 8" aria-hidden="true">
                        <path d="M0 4H28" />
                    </svg>
                    {text(name)}
                </th>
                <td>{with_point(&format!("{rise:.3}"))}</td>
                <td>{with_point(&format!("{mas:.3}"))}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    let curves = tests.iter().zip(ORDERS).map(|(test, (class, _))| view! { <path class=class d=path(&test.curve) /> }).collect_view();
    let n = tests[0].curve.len() - 1;
    let deleted = match use_page().unit() {
        Unit::Sentence => t!("sentences deleted"),
        Unit::Word => t!("words deleted"),
        _ => t!("parts deleted"),
    };
    view! {
        <div class="check-result" data-testid="check">
            <h3>{t!("Test of {label}", label = output)} {derivation.map(|words| view! { <span class="tag">{words}</span> })}</h3>
            <p class="banner" hidden=!says_nothing>
                {t!("The answer is just as likely without the prompt, so these curves mean nothing.")}
            </p>
            <figure>
                <svg
                    class="curves"
                    viewBox=format!("-34 -10 {} {}", WIDTH + 44.0, HEIGHT + 44.0)
                    role="img"
                    aria-label=t!("Deletion curves; their areas are in the table")
                >
                    <path class="axis" d=format!("M0 0V{HEIGHT}H{WIDTH}") />
                    <text x="-6" y="4" text-anchor="end">"1"</text>
                    <text x="-6" y=HEIGHT + 4.0 text-anchor="end">"0"</text>
                    <text x="0" y=HEIGHT + 16.0 text-anchor="middle">"0"</text>
                    <text x=WIDTH y=HEIGHT + 16.0 text-anchor="middle">{n}</text>
                    <text x=WIDTH / 2.0 y=HEIGHT + 30.0 text-anchor="middle">{deleted}</text>
                    {curves}
                </svg>
                <figcaption class="hint">
                    {t!("How likely the model still finds its answer: 1 as with the whole prompt, 0 as without it.")}
                    <NumericDetails>
                        {t!(
                            "Remaining log-probability: 1 corresponds to {whole} nats with the whole prompt, 0 to {none} nats without \
                             it.",
                            whole = signed(log_probs[0]),
                            none = signed(log_probs[1]),
                        )}
                    </NumericDetails>
                </figcaption>
            </figure>
            <table class="metrics">
                <thead>
                    <tr>
                        <th scope="col">{t!("Order")}</th>
                        <th scope="col" title=t!("The area under the curve")>"RISE"</th>
                        <th scope="col" title=t!("The area plus a penalty where the curve differs from what the shares predict")>"MAS"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            <p data-testid="check-verdict">{verdict(&tests, says_nothing)}</p>
            <NumericDetails>
                {t!(
                    "Lower is better. RISE is the area under the curve. MAS adds the distance from the curve that the shares predict."
                )}
            </NumericDetails>
        </div>
    }
}

/// States whether the explanation found the important sentences better than chance. `None` if the curves are meaningless.
fn verdict(tests: &[OrderResult; 3], says_nothing: bool) -> Option<&'static str> {
    let [cage, _, random] = tests;
    match (says_nothing, cage.rise < random.rise) {
        (true, _) => None,
        (false, true) => Some(t!("In the order of CAGE the answer becomes unlikely sooner than in random order: CAGE found what \
                                  matters.")),
        (false, false) => Some(t!("In the order of CAGE the answer becomes unlikely no sooner than in random order: do not rely on the \
                                   explanation.")),
    }
}

fn path(curve: &[f64]) -> String {
    let x = |k: usize| WIDTH * k as f64 / (curve.len() - 1).max(1) as f64;
    let points = curve.iter().enumerate().map(|(k, left)| format!("{:.1} {:.1}", x(k), HEIGHT * (1.0 - left)));
    format!("M{}", points.collect::<Vec<_>>().join("L"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_go_from_the_upper_left_to_the_lower_right() {
        assert_eq!(path(&[1.0, 0.5, 0.0]), "M0.0 0.0L210.0 100.0L420.0 200.0");
    }
}
