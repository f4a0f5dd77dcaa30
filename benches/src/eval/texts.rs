//! The detector alone: sets of texts, and disguises.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use framegate_guard::detect::{Looking, scan};

use crate::eval::data::{self, Sample};
use crate::eval::share::{Share, mean, shown};
use crate::table::Table;

/// The set whose texts are one text in many disguises.
const DISGUISES: &str = "obfuscated";
/// A text of that set as it was.
const PLAIN: &str = "plain";
/// A disguise keeps detection when so many of a hundred texts are still found.
const KEPT_PERCENT: f64 = 95.0;

/// Prints what the detector finds in the texts of a folder.
pub fn print(folder: &Path) -> io::Result<()> {
    let texts: Vec<Sample> = data::rows(folder, "texts")?;
    if texts.is_empty() {
        return Ok(());
    }
    sets(&texts)?;
    disguises(&texts)
}

/// A tool's description is looked at as one.
fn looking(sample: &Sample) -> Looking {
    if sample.set.contains("desc") { Looking::Description } else { Looking::Output }
}

fn is_found(sample: &Sample) -> bool {
    scan(&sample.text, looking(sample)).carries()
}

fn sets(texts: &[Sample]) -> io::Result<()> {
    let mut sets: BTreeMap<(&str, &str), Share> = BTreeMap::new();
    for sample in texts.iter().filter(|sample| sample.set != DISGUISES) {
        sets.entry((&sample.label, &sample.set)).or_default().add(is_found(sample));
    }
    let table = Table::new("Texts, the detector alone", &["label", "set", "found"])?;
    for ((label, set), share) in &sets {
        table.row(&[(*label).to_owned(), (*set).to_owned(), share.to_string()])?;
    }
    for label in ["injection", "benign"] {
        let of: BTreeMap<_, _> =
            sets.iter().filter(|((of, _), _)| *of == label).map(|(set, share)| (set, *share)).collect();
        table.row(&[label.to_owned(), "**mean of sets**".to_owned(), shown(mean(&of))])?;
    }
    Ok(())
}

fn disguises(texts: &[Sample]) -> io::Result<()> {
    let of = |src: &'static str| move |sample: &&Sample| sample.set == DISGUISES && sample.src == src;
    let found: BTreeSet<Option<u64>> =
        texts.iter().filter(of(PLAIN)).filter(|sample| is_found(sample)).map(|sample| sample.base).collect();
    let mut kinds: BTreeMap<&str, Share> = BTreeMap::new();
    let hidden = texts.iter().filter(|sample| sample.set == DISGUISES && sample.src != PLAIN);
    for sample in hidden.filter(|sample| found.contains(&sample.base)) {
        kinds.entry(&sample.src).or_default().add(is_found(sample));
    }
    let title = format!("Disguises: of {} texts that are found plain, found still", found.len());
    let table = Table::new(&title, &["disguise", "found"])?;
    for (kind, share) in &kinds {
        table.row(&[(*kind).to_owned(), share.to_string()])?;
    }
    let kept =
        kinds.values().filter(|share| share.percent().is_some_and(|percent| percent >= KEPT_PERCENT)).count();
    table.row(&[
        format!("**at least {KEPT_PERCENT} % found**"),
        format!("**{kept} of {} kinds**", kinds.len()),
    ])
}
