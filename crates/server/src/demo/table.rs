//! Tables as tools write them: separators, quotes, line ends, encodings.

use super::cells::Unit;

/// A column: its name, and what a unit has in it.
pub(super) type Column = (&'static str, fn(&Unit) -> String);

/// A table before it is written.
pub(super) struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A row for each unit.
    pub(super) fn new<'u>(columns: &[Column], units: impl Iterator<Item = &'u Unit>) -> Table {
        let row = |unit| columns.iter().map(|(_, of)| of(unit)).collect();
        Table { header: columns.iter().map(|(name, _)| *name).collect(), rows: units.map(row).collect() }
    }

    /// The first row whose cell of a column fits.
    pub(super) fn find(&self, column: &str, fits: impl Fn(&str) -> bool) -> Option<usize> {
        let place = self.place(column)?;
        self.rows.iter().position(|row| row.get(place).is_some_and(|cell| fits(cell)))
    }

    /// What a row says in a column.
    pub(super) fn get(&self, row: usize, column: &str) -> &str {
        let cell = self.place(column).and_then(|place| self.rows.get(row)?.get(place));
        cell.map_or("", String::as_str)
    }

    /// Writes something else there.
    pub(super) fn set(&mut self, row: usize, column: &str, text: impl Into<String>) {
        if let Some(place) = self.place(column)
            && let Some(cell) = self.rows.get_mut(row).and_then(|row| row.get_mut(place))
        {
            *cell = text.into();
        }
    }

    /// The same row once more, right below, with other cells where they are named.
    pub(super) fn repeat(&mut self, row: usize, cells: &[(&str, &str)]) {
        if let Some(copy) = self.rows.get(row).cloned() {
            self.rows.insert(row + 1, copy);
            cells.iter().for_each(|(column, text)| self.set(row + 1, column, *text));
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// RFC 4180: every cell in quotes, or only those that need them.
    pub(super) fn csv(&self, all_quoted: bool, line_end: &str) -> String {
        let quoted = |cell: &str| {
            if all_quoted || cell.contains([',', '"', '\r', '\n']) {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell.to_owned()
            }
        };
        self.lines(",", line_end, quoted)
    }

    /// One line a row and no quotes, as many systems do.
    pub(super) fn plain(&self, separator: &str, line_end: &str) -> String {
        self.lines(separator, line_end, str::to_owned)
    }

    fn lines(&self, separator: &str, line_end: &str, write: impl Fn(&str) -> String) -> String {
        let mut text = self.header.iter().map(|name| write(name)).collect::<Vec<_>>().join(separator);
        text.push_str(line_end);
        for row in &self.rows {
            text.push_str(&row.iter().map(|cell| write(cell)).collect::<Vec<_>>().join(separator));
            text.push_str(line_end);
        }
        text
    }

    fn place(&self, column: &str) -> Option<usize> {
        self.header.iter().position(|name| *name == column)
    }
}

/// Windows-1252, as far as our words need it.
pub(super) fn windows_1252(text: &str) -> Vec<u8> {
    let byte = |sign: char| match sign {
        '\u{2013}' => 0x96,
        '\u{2019}' => 0x92,
        sign => u8::try_from(u32::from(sign)).unwrap_or(b'?'),
    };
    text.chars().map(byte).collect()
}

/// UTF-16, little end first, with its mark: what a spreadsheet calls Unicode text.
pub(super) fn utf_16(text: &str) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// UTF-8 with a mark.
pub(super) fn utf_8_marked(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").into_bytes()
}
