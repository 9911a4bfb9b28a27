//! Runs the shell commands of the documentation. A block is `sh`, or `sh` with marks that say why no test runs it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::command::{build, command, output, root, run as run_command};

/// A document for the blocks that read one: its place in the checkout, and its name in the commands.
const EXPLANATION: [&str; 2] = ["public/gallery/01-equal-groups.json", "explanation.json"];
/// Entries of the checkout that commands must not reach through the scratch folder.
const LEFT_OUT: [&str; 3] = [".git", "dist", "target"];

struct Block {
    /// File and line of the block's start.
    place: String,
    marks: Vec<String>,
    commands: String,
}

/// Runs each unmarked block in a folder of its own that looks like a checkout with the page in `dist`. `program` is the command line.
pub fn run(program: &Path, dist: &Path) -> Result<()> {
    let blocks = blocks()?;
    let to_run: Vec<&Block> = blocks.iter().filter(|block| block.marks.is_empty()).collect();
    ensure!(!to_run.is_empty(), "no block of the documentation is run");
    let folder = build().join("documented-commands");
    for block in to_run {
        fs::remove_dir_all(&folder).ok();
        prepare(&folder, dist)?;
        println!("{}:\n{}", block.place, block.commands.trim_end());
        let path = std::env::join_paths(
            program.parent().map(Path::to_path_buf).into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        )?;
        let mut shell = command("bash", &["-euo", "pipefail", "-c", &block.commands]);
        run_command(shell.current_dir(&folder).env("PATH", path)).with_context(|| format!("the commands at {}", block.place))?;
    }
    Ok(fs::remove_dir_all(&folder)?)
}

/// Links to the entries of the checkout, and copies of what commands change.
fn prepare(folder: &Path, dist: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(root())? {
        let entry = entry?;
        if !LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            std::os::unix::fs::symlink(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    let [source, name] = EXPLANATION;
    fs::copy(root().join(source), folder.join(name))?;
    run_command(command("cp", &["-r"]).arg(dist).arg(folder.join("dist")))
}

/// All shell blocks of the documents for readers.
fn blocks() -> Result<Vec<Block>> {
    let files = output(&mut command("git", &["ls-files", "README.md", "CONTRIBUTING.md", "docs/*.md", "python/README.md"]))?;
    let mut blocks = Vec::new();
    for file in files.lines() {
        blocks.extend(blocks_of(file, &fs::read_to_string(root().join(file)).with_context(|| file.to_owned())?));
    }
    Ok(blocks)
}

fn blocks_of(file: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (i, line) in text.lines().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        match (&mut open, fence) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.commands += &format!("{}\n", line.trim_start()),
            (None, Some(info)) => {
                let mut words = info.split_whitespace().map(str::to_owned);
                let language = words.next().unwrap_or_default();
                open = Some(Block { place: format!("{file}:{} {language}", i + 1), marks: words.collect(), commands: String::new() });
            }
            (None, None) => {}
        }
    }
    blocks.retain(|block| block.place.ends_with(" sh"));
    blocks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Reasons not to run a block: it downloads or publishes something, takes longer than a minute or has no end, or needs a GPU.
    const MARKS: [&str; 3] = ["network", "slow", "gpu"];

    #[test]
    fn blocks_are_found_with_their_marks() {
        let text = "```py\nprint()\n```\n* list\n\n  ```sh\n  ls\n  ```\n```sh network slow\ncurl x\n```\n";
        let blocks = blocks_of("a.md", text);
        let found: Vec<_> = blocks.iter().map(|block| (&*block.place, block.marks.join(" "), &*block.commands)).collect();
        assert_eq!(found, [("a.md:6 sh", String::new(), "ls\n"), ("a.md:9 sh", "network slow".to_owned(), "curl x\n")]);
    }

    #[test]
    fn marks_of_blocks_are_known() {
        let marks: BTreeSet<String> = blocks().unwrap().into_iter().flat_map(|block| block.marks).collect();
        assert_eq!(marks.into_iter().filter(|mark| !MARKS.contains(&&**mark)).collect::<Vec<_>>(), Vec::<String>::new());
    }

    /// Cargo compiles for minutes, and pip downloads.
    #[test]
    fn unmarked_blocks_need_no_build_and_no_network() {
        let costly = |block: &Block| block.marks.is_empty() && ["cargo ", "pip ", "curl "].iter().any(|word| block.commands.contains(word));
        let found: Vec<String> = blocks().unwrap().into_iter().filter(costly).map(|block| block.place).collect();
        assert_eq!(found, Vec::<String>::new());
    }
}
