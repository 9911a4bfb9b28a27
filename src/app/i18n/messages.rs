//! Shows messages in the visitor's language. Their templates are keys of the catalog, as the texts of the page are.

use glasscage_message::{Argument, Message, sentence};

use super::{CATALOG, Catalog, following, t};
use crate::problem::Problem;

/// The message in the visitor's language. A template that the catalog lacks stays in English.
pub fn message_text(message: &Message) -> String {
    CATALOG.with(|catalog| translated(catalog.get(), message))
}

/// The message in the visitor's language, as a sentence.
pub fn sentence_text(message: &Message) -> String {
    sentence(&message_text(message), &t!("{words}.", words = ""))
}

/// What happened and what to do next, in the visitor's language.
pub fn problem_text(problem: &Problem) -> String {
    sentence_text(&problem.what) + &following(&sentence_text(&problem.remedy))
}

fn translated(catalog: Option<&Catalog>, message: &Message) -> String {
    let template = catalog.and_then(|catalog| catalog.text(message.template()));
    message.filled(template.unwrap_or(message.template()), &|argument| match argument {
        Argument::Message(message) => translated(catalog, message),
        Argument::Gigabytes(_) => {
            let point = catalog.map_or('.', |catalog| catalog.separators[0]);
            argument.to_string().replace('.', point.encode_utf8(&mut [0; 4])).replace(' ', "\u{a0}")
        }
        Argument::Text(text) => text.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::errors::{LibraryError, RetryCause};
    use crate::library::fit::model_fit;
    use crate::library::preview::{DeviceFacts, ModelFacts};
    use glasscage_message::message;

    fn german() -> Catalog {
        Catalog::parse(include_str!("../../../public/locales/de.json"), |_| "other".into(), [',', '.']).unwrap()
    }

    fn of(texts: &[(&str, &str)]) -> Catalog {
        let texts: std::collections::BTreeMap<_, _> = texts.iter().copied().collect();
        Catalog::parse(&serde_json::to_string(&texts).unwrap(), |_| "other".into(), ['.', ',']).unwrap()
    }

    #[test]
    fn arguments_move_with_the_translation() {
        let catalog = of(&[("tensor {name} ends at byte {end}", "bei {end} endet {name}")]);
        let (name, end) = ("{end}", 17);
        assert_eq!(translated(Some(&catalog), &message!("tensor {name} ends at byte {end}")), "bei 17 endet {end}");
        assert_eq!(translated(None, &message!("tensor {name} ends at byte {end}")), "tensor {end} ends at byte 17");
    }

    #[test]
    fn messages_in_messages_are_translated_and_texts_are_not() {
        let catalog = of(&[("it failed: {cause}", "Fehler: {cause}"), ("a lost wire", "Kabel ab")]);
        let shown = |cause| translated(Some(&catalog), &message!("it failed: {cause}", cause = cause));
        assert_eq!(shown(message!("a lost wire")), "Fehler: Kabel ab");
        assert_eq!(shown(message!("it failed: {cause}", cause = "a lost wire")), "Fehler: Fehler: a lost wire");
        assert_eq!(shown(message!("bad luck")), "Fehler: bad luck");
    }

    #[test]
    fn sizes_have_the_separator_of_the_language() {
        let facts = ModelFacts { context_length: 4_096, bytes_per_token: 100_000, ..ModelFacts::default() };
        let (_, reason) = model_fit(1_500_000_000, &facts, &DeviceFacts { memory: Some(1_200_000_000), ..DeviceFacts::default() });
        let shown = translated(Some(&german()), &reason);
        assert!(shown.contains("1,9\u{a0}GB") && shown.contains("1,2\u{a0}GB"), "{shown}");
    }

    #[test]
    fn a_problem_of_the_library_is_german() {
        let catalog = german();
        let shown = |message: &Message| sentence(&translated(Some(&catalog), message), ".");
        let problem = Problem::from(LibraryError::before_download("https://a.org/b.gguf", RetryCause::Busy(503)));
        let (what, remedy) = (shown(&problem.what), shown(&problem.remedy));
        assert!(
            what.starts_with("Dieses Modell") && what.contains("a.org") && what.contains("Server") && what.ends_with("(503)."),
            "{what}"
        );
        assert!(remedy.starts_with("Pr\u{fc}fen Sie die Adresse"), "{remedy}");
        let file = "big-00001-of-00003.gguf".to_owned();
        let error = Box::new(LibraryError::before_download("https://a.org/b.gguf", RetryCause::Stalled));
        let what = shown(&Problem::from(LibraryError::InFile { error, file, n_files: 3 }).what);
        assert!(what.starts_with("Dieses Modell") && what.contains("30 Sekunden") && what.contains("big-00001"), "{what}");
    }

    #[test]
    fn without_a_catalog_problems_are_english() {
        let problem = Problem::new(message!("the file ends early"), message!("Download it again"));
        assert_eq!(problem_text(&problem), problem.to_string());
    }
}
