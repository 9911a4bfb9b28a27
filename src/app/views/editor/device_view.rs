//! What this device and its GPU do, measured when the visitor asks, as a text for bug reports. A separate chunk of the page's code.

use leptos::prelude::*;

use crate::app::analysis::number;
use crate::app::browser;
use crate::app::i18n::{sentence_text, t, text, translatable};
use crate::app::page::use_page;
use crate::app::state::message::Message;
use crate::app::views::layout::copy_text::CopyText;
use crate::app::views::layout::lazy::split_off;
use crate::device::{DeviceReport, GpuReport, KernelError};
use crate::number::NumberFormat;
use crate::version::GLASSCAGE;
use glasscage_message::message;

split_off!(device, fetch_device => view as fn() -> AnyView);

fn view() -> AnyView {
    let page = use_page();
    let report = move || page.with(|state| serde_json::from_str(state.engine.device.as_ref()?).ok());
    let shown = move || report().map(|report| view! { <ReportView report /> });
    view! {
        <p class="hint">
            {t!(
                "Measures this device with the loaded model in a few seconds, for example for a bug report. Nothing is uploaded."
            )}
        </p>
        <p class="side-by-side">
            <button
                type="button"
                data-testid="measure-device"
                disabled=move || page.is_busy()
                on:click=move |_| page.send(Message::MeasureDevice)
            >
                {t!("Measure")}
            </button>
        </p>
        {shown}
    }
    .into_any()
}

#[component]
fn ReportView(report: DeviceReport) -> impl IntoView {
    let page = use_page();
    let notices = untrack(|| {
        page.with(|state| state.engine.loaded().map(|loaded| loaded.notices.iter().map(|notice| notice.to_sentence()).collect::<Vec<_>>()))
    });
    let text = Signal::stored(bug_report(&report, &browser::user_agent(), &notices.unwrap_or_default()));
    let row = |(name, value): (String, String)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> };
    let facts = facts(&report, &Wording::of_page()).into_iter().map(row).collect_view();
    let without_gpu =
        report.gpu.is_none().then(|| sentence_text(&message!("This browser gives no access to a GPU, so the CPU engine is used")));
    let kernels = report.gpu.map(|gpu| kernel_rows(&gpu.kernels, &Wording::of_page())).unwrap_or_default();
    let has_kernels = !kernels.is_empty();
    let kernels = kernels.into_iter().map(row).collect_view();
    view! {
        {without_gpu.map(|sentence| view! { <p data-testid="without-gpu">{sentence}</p> })}
        <dl class="facts wide" data-testid="device-facts">{facts}</dl>
        {has_kernels.then(|| view! {
            <p>{t!("Largest error of each kernel, relative to its largest value")}</p>
            <dl class="facts wide" lang="en" dir="ltr" data-testid="device-kernels">{kernels}</dl>
        })}
        <CopyText text button=(t!("Copy as text"), "copy-device") field=(t!("Copy as text"), "device-text") />
    }
}

/// The language of a report: that of the page, or English for bug reports.
struct Wording {
    text: fn(&'static str) -> &'static str,
    format: NumberFormat,
}

impl Wording {
    const ENGLISH: Self = Self { text: |english| english, format: NumberFormat::ENGLISH };

    fn of_page() -> Self {
        Self { text, format: number::format() }
    }

    /// A rate and its unit. Two decimals below 10, one below 100, then none: "1.23 GB/s", "45.7 GB/s", "1,235 GB/s".
    fn rate(&self, number: f64, unit: &str) -> String {
        let digits = match number {
            small if small < 10.0 => self.format.with_point(&format!("{small:.2}")),
            medium if medium < 100.0 => self.format.with_point(&format!("{medium:.1}")),
            large => self.format.grouped(large.round() as u64),
        };
        format!("{digits} {unit}")
    }

    /// "1.2e-7", "0".
    fn tiny(&self, number: f64) -> String {
        if number == 0.0 { "0".into() } else { self.format.with_point(&format!("{number:.1e}")) }
    }
}

/// Names and values of everything but the kernels.
fn facts(report: &DeviceReport, wording: &Wording) -> Vec<(String, String)> {
    let word = wording.text;
    let (speed, tokens_per_second) = (report.speed, word(translatable!("tokens/s")));
    let mut facts = vec![
        (translatable!("Engine"), report.engine.clone()),
        (translatable!("Model"), [&*report.model, &*report.quantization].join(" ")),
        (translatable!("Reading a text"), wording.rate(speed.read, tokens_per_second)),
        (translatable!("Writing an answer"), wording.rate(speed.generated, tokens_per_second)),
    ];
    if let Some(gpu) = &report.gpu {
        let GpuReport { gflops, gigabytes_per_second, shapes, nats, accepted_nats, .. } = gpu;
        let name = if gpu.name.is_empty() { word(translatable!("unknown")) } else { &gpu.name };
        let name = if gpu.is_software { format!("{name} ({})", word(translatable!("software"))) } else { name.to_owned() };
        facts.insert(0, (translatable!("GPU"), name));
        let more = [
            (translatable!("Peak GPU throughput (f32)"), gflops.map(|rate| wording.rate(rate, "GFLOP/s"))),
            (translatable!("Memory bandwidth"), gigabytes_per_second.map(|rate| wording.rate(rate, "GB/s"))),
            (translatable!("Largest buffer"), Some(wording.rate(gpu.buffer_bytes as f64 / 1e6, "MB"))),
            (translatable!("Kernel shapes"), shapes.clone()),
            (
                translatable!("Log-probabilities differ from the CPU by"),
                nats.map(|nats| {
                    format!("{} {} (\u{2264} {})", wording.tiny(nats), word(translatable!("nats")), wording.tiny(*accepted_nats))
                }),
            ),
        ];
        facts.extend(more.into_iter().filter_map(|(name, value)| Some((name, value?))));
    }
    facts.into_iter().map(|(name, value)| (word(name).to_owned(), value)).collect()
}

/// What each group of kernels computes, and its error.
fn kernel_rows(kernels: &[KernelError], wording: &Wording) -> Vec<(String, String)> {
    let value = |kernel: &KernelError| {
        let error = kernel.error.map(|error| wording.tiny(error.into()));
        match kernel.is_right {
            true => error.unwrap_or_default(),
            false => [error.as_deref(), Some("wrong")].into_iter().flatten().collect::<Vec<_>>().join(", "),
        }
    };
    kernels.iter().map(|kernel| (kernel.what.clone(), value(kernel))).collect()
}

/// The text of a bug report, in English.
fn bug_report(report: &DeviceReport, user_agent: &str, notices: &[String]) -> String {
    let line = |(name, value): (String, String)| format!("{name}: {value}\n");
    let mut lines = vec![format!("Glasscage: {GLASSCAGE}\nBrowser: {user_agent}\n")];
    lines.extend(facts(report, &Wording::ENGLISH).into_iter().map(line));
    match &report.gpu {
        None => lines.push("GPU: none\n".into()),
        Some(gpu) => {
            lines.push("Largest error of each kernel, relative to its largest value:\n".into());
            lines.extend(kernel_rows(&gpu.kernels, &Wording::ENGLISH).into_iter().map(|row| format!("  {}", line(row))));
        }
    }
    lines.extend(notices.iter().map(|notice| format!("Note: {notice}\n")));
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::TokenSpeed;

    fn report() -> DeviceReport {
        let kernel = |what: &str, error, is_right| KernelError { what: what.into(), error, is_right };
        DeviceReport {
            engine: "webgpu (nvidia ampere)".into(),
            model: "demo".into(),
            quantization: "Q8_0".into(),
            speed: TokenSpeed { read: 1234.5, generated: 45.67 },
            gpu: Some(GpuReport {
                name: "nvidia ampere".into(),
                is_software: false,
                buffer_bytes: 2_147_483_644,
                gflops: Some(20_480.4),
                gigabytes_per_second: None,
                shapes: Some("tiles of 8x4, vectors by 2, heads by 64".into()),
                nats: Some(1.3e-6),
                accepted_nats: 1e-3,
                kernels: vec![
                    kernel("RMSNorm", Some(1.2e-7), true),
                    kernel("rows by their numbers", Some(0.0), true),
                    kernel("SwiGLU", Some(0.25), false),
                    kernel("the most likely token", None, false),
                ],
            }),
        }
    }

    #[test]
    fn bug_report_has_all_facts_in_english() {
        let expected = format!(
            "Glasscage: {GLASSCAGE}\nBrowser: Firefox\nGPU: nvidia ampere\nEngine: webgpu (nvidia ampere)\nModel: demo Q8_0\n\
             Reading a text: 1,235 tokens/s\nWriting an answer: 45.7 tokens/s\nPeak GPU throughput (f32): 20,480 GFLOP/s\n\
             Largest buffer: 2,147 MB\nKernel shapes: tiles of 8x4, vectors by 2, heads by 64\n\
             Log-probabilities differ from the CPU by: 1.3e-6 nats (\u{2264} 1.0e-3)\n\
             Largest error of each kernel, relative to its largest value:\n  RMSNorm: 1.2e-7\n  \
             rows by their numbers: 0\n  SwiGLU: 2.5e-1, wrong\n  the most likely token: wrong\nNote: The file is old.\n"
        );
        assert_eq!(bug_report(&report(), "Firefox", &["The file is old.".into()]), expected);
    }

    #[test]
    fn report_of_worker_is_read_again() {
        let json = serde_json::to_string(&report()).unwrap();
        assert_eq!(serde_json::from_str::<DeviceReport>(&json).unwrap(), report());
    }

    #[test]
    fn missing_gpu_is_stated() {
        let text = bug_report(&DeviceReport { engine: "candle-cpu".into(), gpu: None, ..report() }, "Firefox", &[]);
        assert!(text.contains("Engine: candle-cpu\n") && text.ends_with("GPU: none\n"), "{text}");
    }
}
