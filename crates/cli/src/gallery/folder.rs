//! The folder of a gallery. It is built next to the old one, and replaces it when it is complete.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::super::output;

/// The explanation that the page opens with: the first of the index.
pub const WELCOME: &str = "welcome.json";
/// The list of all explanations and lessons, in the order of the page.
pub const INDEX: &str = "index.json";

#[derive(Deserialize)]
struct Index {
    explanations: Vec<Entry>,
    lessons: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    file: String,
}

/// A folder in construction. Dropping it deletes it, unless it was finished.
pub struct NewFolder {
    /// The folder in which the gallery is written.
    path: PathBuf,
    /// The final folder.
    place: PathBuf,
}

impl NewFolder {
    /// Creates a folder next to `place`. Errors unless `place` is a gallery, an empty folder, or does not exist.
    pub fn beside(place: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| output::cannot_write(place, &error);
        // If the path is a symbolic link, its target is replaced and the link stays. A link to nothing is an error.
        let is_there = place.exists() || place.is_symlink();
        let place = if is_there { place.canonicalize() } else { std::path::absolute(place) }.map_err(failed)?;
        if place.exists() {
            check_gallery(&place)?;
        }
        let path = hidden(&place, "new");
        fs::create_dir_all(&path).map_err(failed)?;
        Ok(Self { path, place })
    }

    pub fn write(&self, name: &str, contents: &str) -> Result<(), String> {
        output::write(&self.path.join(name), contents)
    }

    /// Moves the folder to its place, and deletes the old one.
    pub fn finish(self) -> Result<(), String> {
        let failed = |error: std::io::Error| output::cannot_write(&self.place, &error);
        let old = hidden(&self.place, "old");
        let was_there = self.place.exists();
        if was_there {
            // Check again, because the work took a while.
            check_gallery(&self.place)?;
            fs::rename(&self.place, &old).map_err(failed)?;
        }
        if let Err(error) = fs::rename(&self.path, &self.place) {
            if was_there {
                fs::rename(&old, &self.place).map_err(failed)?;
            }
            return Err(failed(error));
        }
        if was_there { fs::remove_dir_all(&old).map_err(failed) } else { Ok(()) }
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.path).ok();
    }
}

/// Path of a folder of this process next to `place`.
fn hidden(place: &Path, what: &str) -> PathBuf {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    place.with_file_name(format!(".{name}.{what}-{}", std::process::id()))
}

/// Errors if the folder contains anything that a gallery does not have.
fn check_gallery(folder: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let index = fs::read(folder.join(INDEX)).ok().and_then(|json| serde_json::from_slice::<Index>(&json).ok());
    let listed = |Index { explanations, lessons }| explanations.into_iter().chain(lessons).map(|Entry { file }| file);
    let files: BTreeSet<String> = index.map(|index| listed(index).chain([INDEX, WELCOME].map(String::from)).collect()).unwrap_or_default();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !files.contains(&name) || entry.path().is_dir() {
            return Err(format!("{} is not a gallery: {name} is in it, and would be lost; choose another --out", folder.display()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a separate folder with these files.
    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("glasscage-gallery-{}-{name}", std::process::id()));
        fs::remove_dir_all(&folder).ok();
        fs::create_dir_all(&folder).unwrap();
        files.iter().for_each(|(file, text)| fs::write(folder.join(file), text).unwrap());
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    const OLD: &str = r#"{"explanations": [{"title": "A", "file": "01-a.json"}], "lessons": [{"file": "lesson-b.json"}]}"#;

    #[test]
    fn only_finished_folder_replaces_gallery() {
        let all = folder("all", &[]);
        let gallery = all.join("gallery");
        let new = NewFolder::beside(&gallery).unwrap();
        new.write(INDEX, OLD).unwrap();
        assert!(!gallery.exists(), "it is not complete");
        new.finish().unwrap();
        assert_eq!(names(&gallery), [INDEX]);
        let again = NewFolder::beside(&gallery).unwrap();
        again.write(WELCOME, "{}").unwrap();
        drop(again);
        assert_eq!((names(&gallery), names(&all)), (vec![INDEX.to_owned()], vec!["gallery".to_owned()]), "what failed changes nothing");
        let again = NewFolder::beside(&gallery).unwrap();
        again.write(WELCOME, "{}").unwrap();
        again.finish().unwrap();
        assert_eq!((names(&gallery), names(&all)), (vec![WELCOME.to_owned()], vec!["gallery".to_owned()]));
        fs::remove_dir_all(all).unwrap();
    }

    #[test]
    fn folder_with_other_files_is_rejected_and_kept() {
        for (name, files) in [
            ("thesis", &[("thesis.tex", "years")][..]),
            ("both", &[(INDEX, OLD), ("01-a.json", "{}"), ("notes.txt", "")]),
            ("index", &[(INDEX, "{\"pages\": 3}")]),
            ("welcome", &[(WELCOME, "{}")]),
        ] {
            let folder = folder(name, files);
            let refused = NewFolder::beside(&folder).err().expect("it is refused");
            assert!(refused.contains("not a gallery"), "{refused}");
            assert_eq!(names(&folder).len(), files.len());
            fs::remove_dir_all(folder).unwrap();
        }
        let file = folder("file", &[("gallery", "")]);
        assert!(NewFolder::beside(&file.join("gallery")).is_err());
        fs::remove_dir_all(file).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn link_to_nothing_is_rejected_and_link_to_gallery_stays() {
        let all = folder("links", &[]);
        let [gallery, link] = ["gallery", "link"].map(|name| all.join(name));
        std::os::unix::fs::symlink(&gallery, &link).unwrap();
        assert!(NewFolder::beside(&link).is_err());
        fs::create_dir(&gallery).unwrap();
        let new = NewFolder::beside(&link).unwrap();
        new.write(INDEX, OLD).unwrap();
        new.finish().unwrap();
        assert_eq!((names(&gallery), names(&all)), (vec![INDEX.to_owned()], vec!["gallery".to_owned(), "link".to_owned()]));
        assert!(link.is_symlink());
        fs::remove_dir_all(all).unwrap();
    }
}
