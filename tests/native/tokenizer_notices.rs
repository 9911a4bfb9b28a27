//! Model files with incomplete information about their tokens: the tokenizer works, and reports its assumptions.

use glasscage::model::gguf::{Metadata, Value};
use glasscage::model::tokenizer::{Tokenizer, TokenizerNotice};

use crate::tokenizer::{EOS, MERGES, MODEL, TOKENS, TYPES, byte_level, byte_level_metadata};

#[test]
fn ids_beyond_the_vocabulary_count_as_none() {
    const BOS: &str = "tokenizer.ggml.bos_token_id";
    for key in [BOS, EOS, "tokenizer.ggml.eot_token_id", "tokenizer.ggml.fim_pad_token_id"] {
        for id in [Value::U64(u64::from(u32::MAX)), Value::I64(-1), Value::U64(1 << 40)] {
            let mut metadata = byte_level_metadata("gpt-2");
            metadata.set(key, id);
            metadata.set("tokenizer.ggml.add_bos_token", Value::Bool(key == BOS));
            let tokenizer = Tokenizer::from_metadata(&metadata).unwrap();
            assert!(matches!(tokenizer.notices(), [TokenizerNotice::NoSuchToken { key: named, .. }] if *named == key), "{key}");
            assert_eq!((tokenizer.bos(), tokenizer.adds_bos()), (None, false), "{key}");
            assert!(tokenizer.is_end_of_generation(tokenizer.eos()), "{key}");
        }
    }
    assert_eq!(byte_level("gpt-2").notices(), []);
}

#[test]
fn unnamed_splitting_rules_are_noticed() {
    let named = byte_level_metadata("default");
    let unnamed = Metadata::from_iter([MODEL, TOKENS, TYPES, MERGES, EOS].map(|key| (key, named.get(key).unwrap().clone())));
    let notices = |metadata: &Metadata| Tokenizer::from_metadata(metadata).unwrap().notices().to_vec();
    assert_eq!((notices(&named), notices(&unnamed)), (vec![], vec![TokenizerNotice::NoPreTokenizer]));
}
