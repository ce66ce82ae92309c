//! Columns, what they are taken for, and what stands in them: so that a dealer sees the mapping before it counts.

use serde::Serialize;

use super::Check;
use crate::aliases::{Target, fold_name};
use crate::finding::excerpt;
use crate::mapping::Mapping;
use crate::raw::{self, RawRow, Refused, Stopped};

/// The columns of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// In their order; of a document those that the rows looked at have, a list as one.
    pub columns: Vec<PreviewColumn>,
    /// How many rows were looked at.
    pub rows: usize,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreviewColumn {
    /// Its name as it came.
    pub column: String,
    /// What it is taken for; see [`MappedColumn`](crate::outcome::MappedColumn).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Whether a mapping by hand says so.
    pub by_hand: bool,
    /// What stands in it in the rows looked at, shortened; empty texts for empty cells.
    pub examples: Vec<String>,
}

impl Check<'_> {
    /// Looks at the first rows of the file.
    ///
    /// # Errors
    /// The file is refused, or its bytes cannot be had.
    pub fn preview(&self, rows: usize) -> Result<Preview, Refused> {
        let mut opened = raw::open(self.source, self.config, self.limits)?;
        let mut mapping = Mapping::new(self.config);
        let mut looked_at = Vec::new();
        while looked_at.len() < rows {
            match opened.rows.next() {
                Ok(Some(RawRow::Read { cells, .. })) => looked_at.push(cells),
                Ok(Some(RawRow::Lost { .. })) => {}
                Ok(None) | Err(Stopped::File { .. }) => break,
                Err(stopped) => return Err(stopped.into()),
            }
        }
        let columns = opened.rows.columns();
        mapping.grow(columns);
        let mut seen: Vec<String> = Vec::new();
        let mut preview = Preview { columns: Vec::new(), rows: looked_at.len() };
        for (place, mapped) in mapping.list(columns).into_iter().enumerate() {
            // Of the places of a list the first stands for all.
            if mapped.column.contains('[') {
                let name = fold_name(&mapped.column);
                if seen.contains(&name) {
                    continue;
                }
                seen.push(name);
            }
            let example = |row: &Vec<(usize, String)>| {
                let cell = row.iter().find(|(column, _)| *column == place);
                let never = mapped.target.as_deref() == Some("never_published");
                cell.map_or_else(String::new, |(_, text)| if never { "…".to_owned() } else { one_line(text) })
            };
            let examples = looked_at.iter().map(example).collect();
            let (column, target, by_hand) = (mapped.column.clone(), mapped.target.clone(), mapped.by_hand);
            preview.columns.push(PreviewColumn { column, target, by_hand, examples });
        }
        Ok(preview)
    }
}

fn one_line(text: &str) -> String {
    excerpt(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The words that a mapping by hand may use.
pub fn target_words() -> impl Iterator<Item = &'static str> {
    Target::ALL.iter().map(|target| target.as_str())
}
