//! The findings in `docs/FEEDS.md` are those of the tables. `UPDATE_DOCS=1 cargo test -p feeds --test codes_page` writes
//! them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use feeds::Code;
use feeds::code::Level;

const BEGIN: &str = "UPDATE_DOCS=1 cargo test -p feeds --test codes_page -->\n";
const END: &str = "<!-- end of findings -->";

fn chapter() -> String {
    let mut chapter = String::new();
    for (level, title) in [
        (Level::Refusal, "The file is refused, and nobody can approve it"),
        (Level::Verdict, "The file is held until a person decides"),
        (Level::File, "About the file, which is applied all the same"),
        (Level::Error, "The row is not published"),
        (Level::Warning, "The row is published; something of it was changed or left out"),
    ] {
        chapter.push_str(&format!("\n### {title}\n\n| code | what to do |\n| --- | --- |\n"));
        for code in Code::ALL.iter().filter(|code| code.level() == level) {
            chapter.push_str(&format!("| `{}` | {} |\n", code.as_str(), code.advice().replace('|', "\\|")));
        }
    }
    chapter.push('\n');
    chapter
}

#[test]
fn the_page_lists_the_codes_of_the_table() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/FEEDS.md");
    let page = std::fs::read_to_string(&file).expect("docs/FEEDS.md");
    let begin = page.find(BEGIN).expect("the mark before the findings") + BEGIN.len();
    let end = page.find(END).expect("the mark behind the findings");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, format!("{}{}{}", &page[..begin], chapter(), &page[end..])).unwrap();
        return;
    }
    assert!(page[begin..end] == chapter(), "docs/FEEDS.md is out of date; write it with UPDATE_DOCS=1");
}
