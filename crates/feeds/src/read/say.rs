//! What is to be said about one row, gathered while it is read.

use crate::code::{Code, Level};
use crate::finding::{Finding, excerpt};
use crate::mapping::Cell;
use crate::raw::Columns;

/// The findings of a row, with what each of them is named by.
#[derive(Debug)]
pub(super) struct Say<'r> {
    columns: &'r Columns,
    row: u32,
    vin: Option<String>,
    stock: Option<String>,
    /// What the row leaves out is not asked of it.
    fills_in: bool,
    findings: Vec<Finding>,
}

/// What is said of something that is not there.
const ABSENT: [Code; 9] = [
    Code::VinMissing,
    Code::MakeMissing,
    Code::ModelMissing,
    Code::YearMissing,
    Code::YearFromVin,
    Code::ConditionMissing,
    Code::ConditionInferred,
    Code::PriceNotDisclosed,
    Code::MileageMissing,
];

impl<'r> Say<'r> {
    pub(super) fn of(columns: &'r Columns, row: u32, vin: &str, stock: Option<&str>, fills_in: bool) -> Self {
        let vin = Some(vin.trim()).filter(|vin| !vin.is_empty()).map(excerpt);
        Self { columns, row, vin, stock: stock.map(excerpt), fills_in, findings: Vec::new() }
    }

    /// Says something of a member: once, with the cell that it is about where there is one.
    pub(super) fn say(&mut self, code: Code, field: &str, cell: Option<Cell<'_>>) {
        if self.fills_in && cell.is_none() && ABSENT.contains(&code) {
            return;
        }
        self.say_of(code, field, cell.map(|cell| self.columns.name(cell.column)), cell.map(|cell| cell.text));
    }

    pub(super) fn say_of(&mut self, code: Code, field: &str, column: Option<&str>, value: Option<&str>) {
        let known = |finding: &Finding| finding.code == code && finding.field.as_deref() == Some(field);
        if self.findings.iter().any(known) {
            return;
        }
        self.findings.push(Finding {
            code,
            row: Some(self.row),
            field: Some(field.to_owned()),
            column: column.map(str::to_owned),
            value: value.map(excerpt),
            vin: self.vin.clone(),
            stock: self.stock.clone(),
            kept_row: None,
        });
    }

    pub(super) fn say_all(&mut self, codes: &[Code], field: &str, cell: Option<Cell<'_>>) {
        for code in codes {
            self.say(*code, field, cell);
        }
    }

    pub(super) fn column(&self, cell: Cell<'_>) -> &'r str {
        self.columns.name(cell.column)
    }

    /// Whether the row has an error.
    pub(super) fn has_error(&self) -> bool {
        self.findings.iter().any(|finding| finding.code.level() == Level::Error)
    }

    /// What is told: of a row with errors these alone, since nothing of it is published.
    pub(super) fn told(self) -> Vec<Finding> {
        let errors = self.has_error();
        let told = |finding: &Finding| !errors || finding.code.level() == Level::Error;
        self.findings.into_iter().filter(told).collect()
    }
}
