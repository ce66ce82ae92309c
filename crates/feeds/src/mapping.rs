//! Which column of a file holds what: by hand where the dealer said so, by [alias](crate::aliases) otherwise.
//!
//! Of several columns for one target the first from left to right counts, and a later one fills only an empty value;
//! a column mapped by hand comes before all. Columns with what the dealer paid are never taken, whoever maps them.

use std::collections::HashMap;

use crate::aliases::{Target, fold_name, is_never_published, target_of_name};
use crate::code::Code;
use crate::config::Config;
use crate::finding::Finding;
use crate::outcome::MappedColumn;
use crate::raw::{ColumnId, Columns};
use crate::values::{condition, vehicle_type};

/// Words of a mapping by hand that are no target, for whoever saves one: `(column, word)`.
pub fn unknown_targets(config: &Config) -> Vec<(String, String)> {
    let unknown = |(column, word): (&String, &String)| {
        word.parse::<Target>().is_err().then(|| (column.clone(), word.clone()))
    };
    config.columns.iter().filter_map(unknown).collect()
}

/// What is known of one column.
#[derive(Debug, Clone, Copy, Default)]
struct Column {
    target: Option<Target>,
    by_hand: bool,
    never: bool,
}

/// The mapping of one file, which grows with its columns.
#[derive(Debug)]
pub struct Mapping {
    by_hand: HashMap<String, Target>,
    columns: Vec<Column>,
    /// Which targets the file has a column for.
    seen: Vec<bool>,
    /// Whether some row said new or used in `title`: its `condition` is the wear then.
    title_is_condition: bool,
    refused: Vec<(ColumnId, Target)>,
}

impl Mapping {
    /// The mapping that the settings ask for; words that are no target count for nothing here.
    pub fn new(config: &Config) -> Self {
        let by_hand = |(column, word): (&String, &String)| Some((fold_name(column), word.parse().ok()?));
        Self {
            by_hand: config.columns.iter().filter_map(by_hand).collect(),
            columns: Vec::new(),
            seen: vec![false; Target::ALL.len()],
            title_is_condition: false,
            refused: Vec::new(),
        }
    }

    /// Looks at columns that are new.
    pub fn grow(&mut self, columns: &Columns) {
        for (place, name) in columns.names().iter().enumerate().skip(self.columns.len()) {
            let never = is_never_published(name);
            let by_hand = self.by_hand.get(&fold_name(name)).copied();
            if let (true, Some(target)) = (never, by_hand.filter(|target| *target != Target::Ignore)) {
                self.refused.push((place, target));
            }
            let target = by_hand.or_else(|| target_of_name(name)).filter(|_| !never);
            if let Some(seen) = target.and_then(|target| self.seen.get_mut(target as usize)) {
                *seen = true;
            }
            self.columns.push(Column { target, by_hand: by_hand.is_some(), never });
        }
    }

    /// Whether the file has a column for a target.
    pub fn has(&self, target: Target) -> bool {
        self.seen.get(target as usize).copied().unwrap_or(false)
    }

    /// Sorts the cells of a row by what they hold.
    pub fn pick<'c>(&mut self, cells: &'c [(ColumnId, String)]) -> Picked<'c> {
        let mut picked = Vec::with_capacity(cells.len());
        for (place, text) in cells {
            let column = self.columns.get(*place).copied().unwrap_or_default();
            let text = text.trim();
            if let (Some(target), false) = (column.target, text.is_empty()) {
                picked.push((!column.by_hand, Cell { target, column: *place, text }));
            }
        }
        // By hand first; the sort is stable, so that the order of the file holds among equals.
        picked.sort_by_key(|(by_alias, _)| *by_alias);
        let mut picked = Picked { cells: picked.into_iter().map(|(_, cell)| cell).collect() };
        self.settle_ambiguous(&mut picked);
        picked
    }

    /// `title`, `type` and `condition` mean one thing here and another there (FEEDS.md 4): what the cell says and which
    /// other columns there are decides.
    fn settle_ambiguous(&mut self, picked: &mut Picked<'_>) {
        let named = self.has(Target::Condition);
        let by_title = picked.cells.iter().any(|cell| is_condition_of(cell, Target::Title));
        self.title_is_condition |= by_title && !named;
        let by_type = picked.cells.iter().any(|cell| is_condition_of(cell, Target::TypeOrCondition));
        let other = named || self.title_is_condition || self.has(Target::ConditionOrWear);
        for cell in &mut picked.cells {
            cell.target = match cell.target {
                Target::Title if self.title_is_condition && condition::is_condition(cell.text) => {
                    Target::Condition
                }
                Target::Title if is_brand(cell.text) => Target::TitleStatus,
                Target::TypeOrCondition if condition::is_condition(cell.text) => Target::Condition,
                Target::TypeOrCondition if vehicle_type::is_kind(cell.text) => Target::VehicleType,
                Target::TypeOrCondition if other => Target::Ignore,
                Target::TypeOrCondition => Target::Condition,
                Target::ConditionOrWear if named || self.title_is_condition || by_type => Target::Wear,
                Target::ConditionOrWear => Target::Condition,
                // A column of kinds that says new or used: some tools do.
                Target::VehicleType
                    if !named && cell.text.len() > 1 && condition::is_condition(cell.text) =>
                {
                    Target::Condition
                }
                target => target,
            };
        }
    }

    /// Columns that a mapping by hand names although what they hold is never published.
    pub fn refused(&self, columns: &Columns) -> Vec<Finding> {
        let finding = |(place, target): &(ColumnId, Target)| Finding {
            code: Code::FeedColumnRefused,
            row: None,
            field: Some(target.as_str().to_owned()),
            column: Some(columns.name(*place).to_owned()),
            value: None,
            vin: None,
            stock: None,
            kept_row: None,
        };
        self.refused.iter().map(finding).collect()
    }

    /// What every column was taken for.
    pub fn list(&self, columns: &Columns) -> Vec<MappedColumn> {
        let list = |(place, column): (ColumnId, &Column)| MappedColumn {
            column: columns.name(place).to_owned(),
            target: match column.target {
                _ if column.never => Some("never_published".to_owned()),
                target => target.map(|target| target.as_str().to_owned()),
            },
            by_hand: column.by_hand && !column.never,
        };
        self.columns.iter().enumerate().map(|(place, column)| list((place, column))).collect()
    }
}

fn is_condition_of(cell: &Cell<'_>, target: Target) -> bool {
    cell.target == target && condition::is_condition(cell.text)
}

/// Whether a `title` cell says how clean the title is.
fn is_brand(text: &str) -> bool {
    matches!(
        crate::aliases::fold(text).as_str(),
        "clean"
            | "clear"
            | "salvage"
            | "rebuilt"
            | "reconstructed"
            | "branded"
            | "lemon"
            | "flood"
            | "junk"
            | "cleantitle"
            | "salvagetitle"
            | "rebuilttitle"
            | "brandedtitle"
            | "parts"
            | "partsonly"
            | "buyback"
    )
}

/// A cell whose column holds something.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'c> {
    /// What it holds.
    pub target: Target,
    /// Its column.
    pub column: ColumnId,
    /// Its text, trimmed and not empty.
    pub text: &'c str,
}

/// The cells of a row that hold something.
#[derive(Debug, Clone)]
pub struct Picked<'c> {
    cells: Vec<Cell<'c>>,
}

impl<'c> Picked<'c> {
    /// The cell for a target.
    pub fn first(&self, target: Target) -> Option<Cell<'c>> {
        self.all(target).next()
    }

    /// The text for a target; empty where there is none.
    pub fn text(&self, target: Target) -> &'c str {
        self.first(target).map_or("", |cell| cell.text)
    }

    /// All cells for a target, in order.
    pub fn all(&self, target: Target) -> impl Iterator<Item = Cell<'c>> {
        self.cells.iter().copied().filter(move |cell| cell.target == target)
    }

    /// All cells, in order.
    pub fn cells(&self) -> &[Cell<'c>] {
        &self.cells
    }
}

#[cfg(test)]
mod tests;
