//! The Python package: builds its wheel with the viewer, and runs its tests in a clean environment with only numpy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{self, command, output, root, run, run_download};
use crate::{build, setup};

/// The viewer in the build, and its place in the wheel's sources.
const VIEWER: [&str; 2] = ["explanation.html", "python/src/glasscage/data/explanation.html"];

/// Builds the page, and a wheel with the viewer, for `pip install` and notebooks.
pub fn wheel() -> Result<()> {
    setup::python()?;
    let dist = root().join("dist");
    build::page(&setup::web()?, &dist)?;
    let [viewer, packaged] = VIEWER;
    fs::copy(dist.join(viewer), root().join(packaged)).context("the page has no viewer")?;
    let wheels = dist.with_file_name("dist-python");
    let wheel = environment().and_then(|python| make_wheel(&python, &wheels));
    // Remove the viewer from the sources, or every later wheel would contain it.
    fs::remove_file(root().join(packaged))?;
    println!("The package is {}.", wheel?.display());
    Ok(())
}

/// `pytest` for the installed package. Some tests compare it with the command line `program`.
pub fn tests(program: &Path) -> Result<Command> {
    setup::python()?;
    let python = environment()?;
    let wheel = make_wheel(&python, &command::build().join("wheels"))?;
    run(pip(&python, &["install", "--no-compile", "--no-index", "--no-deps", "--force-reinstall"]).arg(wheel))?;
    let mut tests = command(&python, &["-B", "-m", "pytest", "--quiet"]);
    tests.arg(root().join("python/tests")).env("GLASSCAGE_BIN", program);
    Ok(tests)
}

/// `pytest` for the tests that compare the package, with torch and transformers, with the command line `program` on the same models.
pub fn tests_with_transformers(program: &Path) -> Result<Command> {
    setup::python()?;
    let python = environment_with("python-live", &["./python[explain,test]", "accelerate", "gguf"])?;
    run_download(&mut pip(&python, &["install", "--no-compile", "--no-deps", "--force-reinstall", "./python"]))?;
    let mut tests = command(&python, &["-B", "-m", "pytest", "--quiet"]);
    tests.arg(root().join("python/tests/test_live.py")).env("GLASSCAGE_LIVE", "1").env("GLASSCAGE_BIN", program);
    Ok(tests)
}

/// The interpreter of an environment that only has the needs of the package and its tests.
pub fn environment() -> Result<PathBuf> {
    environment_with("python", &["./python[test]"])
}

/// The interpreter of an environment with these packages, in this folder of the build.
fn environment_with(folder: &str, packages: &[&str]) -> Result<PathBuf> {
    environment_in(&command::build().join(folder), &root().join("python/pyproject.toml"), packages)
}

/// The interpreter of an environment in `folder`, with what `pip install` installs for `packages`. It is rebuilt only if the file of
/// requirements or the Python version changes, so later runs need no network.
pub fn environment_in(folder: &Path, requirements: &Path, packages: &[&str]) -> Result<PathBuf> {
    let (python, record) = (folder.join("bin/python"), folder.join("made-for"));
    let needs = fs::read_to_string(requirements)? + &output(&mut command("python3", &["--version"]))?;
    if fs::read_to_string(&record).is_ok_and(|made_for| made_for == needs) {
        return Ok(python);
    }
    run(command("python3", &["-m", "venv", "--clear"]).arg(folder))?;
    run_download(pip(&python, &["install", "--no-compile"]).args(packages))?;
    // Write the record last, so that an interrupted installation does not count.
    fs::write(&record, needs)?;
    Ok(python)
}

pub fn pip(python: &Path, arguments: &[&str]) -> Command {
    let common = ["-m", "pip", "--quiet", "--disable-pip-version-check"];
    command(python, &[&common, arguments].concat())
}

/// Builds the wheel into `folder`, which then contains only the wheel.
fn make_wheel(python: &Path, folder: &Path) -> Result<PathBuf> {
    fs::remove_dir_all(folder).ok();
    run(pip(python, &["wheel", "--no-deps", "--no-build-isolation", "./python", "--wheel-dir"]).arg(folder))?;
    wheel_in(folder)
}

pub fn wheel_in(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder)?.filter_map(|file| Some(file.ok()?.path()));
    files.find(|file| file.extension().is_some_and(|extension| extension == "whl")).context("pip made no wheel")
}

/// Number of tests that pytest skipped, and why: `SKIPPED [2] tests/test_live.py:12: there is no model`.
pub fn skipped(line: &str) -> Option<(usize, &str)> {
    let (count, test) = line.strip_prefix("SKIPPED [")?.split_once("] ")?;
    Some((count.parse().ok()?, test))
}

/// Counts and words in the last line of pytest, `1 failed, 3 passed, 2 skipped in 0.50s`.
pub fn counts(line: &str) -> Option<Vec<(usize, &str)>> {
    let (counts, time) = line.rsplit_once(" in ")?;
    time.split(' ').next()?.strip_suffix('s')?.parse::<f64>().ok()?;
    let count = |(number, word): (&str, _)| Some((number.parse().ok()?, word));
    counts.split(", ").map(|text| count(text.split_once(' ')?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_line_of_pytest_is_parsed() {
        assert_eq!(counts("1 failed, 3 passed, 2 skipped in 0.50s"), Some(vec![(1, "failed"), (3, "passed"), (2, "skipped")]));
        assert_eq!(counts("145 passed in 81.59s (0:01:21)"), Some(vec![(145, "passed")]));
        for other in
            ["", "..... [100%]", "FAILED tests/test_link.py::test_x - it went wrong in 0.5s", "test a ... ok", "no tests ran in 0.01s"]
        {
            assert_eq!(counts(other), None, "{other}");
        }
    }

    #[test]
    fn skipped_test_has_reason() {
        assert_eq!(skipped("SKIPPED [2] tests/test_live.py:12: there is no model"), Some((2, "tests/test_live.py:12: there is no model")));
        assert_eq!(skipped("SKIPPED"), None);
    }
}
