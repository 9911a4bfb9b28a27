//! Fuzzes texts: tokens, chat templates, sentences.

use std::ops::Range;

use glasscage::conversation;
use glasscage::explanation::Language;
use glasscage::model::chat::{ChatMessage, ChatTemplate, Date, Variables};
use glasscage::model::gguf::Gguf;
use glasscage::model::tokenizer::Tokenizer;
use glasscage::text::brackets::Bracketed;
use glasscage::text::lines::{lines, paragraphs};
use glasscage::text::sections::sections;
use glasscage::text::sentences::{sentences as sentences_of, sentences_in_any_script, tile};
use glasscage::text::words::words;
use miniz_oxide::inflate::decompress_to_vec_zlib;

/// GGUF files without tensors.
const VOCABULARIES: [&[u8]; 3] = [
    include_bytes!("../../golden/tokenizers/gpt-2.gguf.zlib"),
    include_bytes!("../../golden/tokenizers/llama-2.gguf.zlib"),
    include_bytes!("../../golden/tokenizers/qwen3.gguf.zlib"),
];

thread_local! {
    /// Tokenizers of real models, one of each kind.
    static TOKENIZERS: Vec<Tokenizer> = VOCABULARIES.map(tokenizer_of).into();
}

fn tokenizer_of(compressed: &[u8]) -> Tokenizer {
    let file = decompress_to_vec_zlib(compressed).expect("a zlib stream");
    let gguf = Gguf::parse(&file, file.len() as u64).expect("a GGUF file");
    Tokenizer::from_metadata(&gguf.metadata).expect("a tokenizer")
}

/// Token spans must tile the text, and decoding must return the text.
pub fn tokenizer(bytes: &[u8]) {
    let Some((&which, text)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    TOKENIZERS.with(|tokenizers| {
        let tokenizer = &tokenizers[usize::from(which) % tokenizers.len()];
        let tokens = tokenizer.encode(&text);
        let end = tokens.iter().fold(0, |end, token| {
            assert_eq!(token.span.start, end, "spans tile the text");
            token.span.end
        });
        assert_eq!(end, text.len());
        let ids: Vec<_> = tokens.iter().map(|token| token.id).collect();
        // SentencePiece represents a space as U+2581 and cannot distinguish the two.
        assert_eq!(tokenizer.decode(&ids).replace('\u{2581}', " "), text.replace('\u{2581}', " "));
    });
}

/// A template must be rendered within its budget or be refused. The prompt comes after a NUL.
pub fn template(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (source, prompt) = text.split_once('\0').unwrap_or((&text, "Tom has 5 apples."));
    let Ok(template) = ChatTemplate::new(source, "<s>", "</s>") else { return };
    let message = ChatMessage { role: "user", content: prompt };
    let date = Date::new(2026, 11, 23).expect("a day");
    template.render(&[message], source.len().is_multiple_of(2), &Variables::new(), date).ok();
}

/// Sentences and other units must be inside their text, in order, and their tiles must cover it.
pub fn sentences(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let all = [sentences_of(&text), sentences_in_any_script(&text, Language::English), lines(&text), paragraphs(&text), sections(&text)];
    all.into_iter().for_each(|found| check_units(&text, &found));
    words(&text).into_iter().for_each(|word| assert!(!text[word].is_empty()));
    if let Ok(prompt) = Bracketed::new(&text) {
        check_units(&prompt.text, &prompt.units(sentences_of));
    }
    if let Ok(turns) = conversation::read(&text) {
        assert_eq!(conversation::read(&conversation::written(&turns)), Ok(turns), "what is written is read again");
        assert!(conversation::n_turns(&text).is_some());
    }
}

fn check_units(text: &str, found: &[Range<usize>]) {
    let mut end = 0;
    for unit in found {
        assert!(unit.start >= end && !text[unit.clone()].trim().is_empty());
        end = unit.end;
    }
    let tiles = tile(text, found);
    assert!(tiles.is_empty() || tiles.iter().map(|part| &text[part.clone()]).collect::<String>() == text);
}
