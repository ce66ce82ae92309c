//! How many of the matching units have each value.

use std::borrow::Cow;
use std::hint::black_box;
use std::ops::Range;

use contract::payload::Filters;

use crate::Snapshot;
use crate::bitset::Bits;
use crate::column::Column;
use crate::filter::{self, Bounds};
use crate::terms::{Cells, FACETED, Field};

/// The counted members of the answer, in its order (AAP.md 7.3).
const COUNTED: [(&str, Field); FACETED] = [
    ("makes", Field::Make),
    ("models", Field::Model),
    ("trims", Field::Trim),
    ("years", Field::Year),
    ("conditions", Field::Condition),
    ("transmissions", Field::Transmission),
    ("fuels", Field::Fuel),
    ("drivelines", Field::Driveline),
    ("bodies", Field::Body),
    ("vehicle_types", Field::VehicleType),
    ("exterior_colors", Field::ExteriorColor),
    ("interior_colors", Field::InteriorColor),
    ("rooftops", Field::Rooftop),
    ("statuses", Field::Status),
    ("charge_ports", Field::ChargePort),
    ("dc_fast_charge", Field::DcFastCharge),
];

/// What the ways of counting cost, in words of a set read: to get at a row, and to count one field of it.
const ROW: usize = 12;
const CELL: usize = 2;

/// The facets of the units that match, as the bytes of a Facets object (AAP.md 7.3).
///
/// Counts are those of the filtered units, a filter's own field included, and are what a filter with the value
/// finds. Values come by count, largest first, then in the order of the values; members that no unit has are
/// left out. Without filters the bytes are ready since the snapshot was built.
pub fn facets<'s>(snapshot: &'s Snapshot, filters: &Filters) -> Cow<'s, [u8]> {
    let (Some(matching), bounds) = filter::matching(snapshot, filters) else {
        return Cow::Borrowed(&snapshot.facets);
    };
    let total = matching.count();
    if total == snapshot.rows {
        return Cow::Borrowed(&snapshot.facets);
    }
    Cow::Owned(count(snapshot, &matching, total, &bounds))
}

/// Facets of the rows in `matching`, of which there are `total`, within `bounds`.
pub(crate) fn count(snapshot: &Snapshot, matching: &Bits, total: usize, bounds: &Bounds) -> Vec<u8> {
    let counts = counts(snapshot, matching, total);
    let mut out = Vec::with_capacity(8 * 1024);
    out.push(b'{');
    let mut sorted = Vec::new();
    for (name, field) in COUNTED {
        let values = snapshot.terms.of(field);
        let counted = counts.get(values.start as usize..values.end as usize).unwrap_or_default();
        sorted.clear();
        // The largest count first, then the smallest term: one number says both. Filters leave most terms at
        // zero, so those are passed over by the handful.
        for (first, counted) in (values.start..).step_by(8).zip(counted.chunks(8)) {
            if counted.iter().fold(0, |any, count| any | count) > 0 {
                let found = (first..).zip(counted).filter(|(_, count)| **count > 0);
                sorted.extend(found.map(|(term, count)| u64::from(u32::MAX - count) << 32 | u64::from(term)));
            }
        }
        if sorted.is_empty() {
            continue;
        }
        sorted.sort_unstable();
        begin(&mut out, name);
        out.push(b'[');
        for key in &sorted {
            #[expect(clippy::cast_possible_truncation, reason = "each half is 32 bits")]
            let (count, term) = (u32::MAX - (key >> 32) as u32, *key as u32);
            out.extend_from_slice(snapshot.terms.framed(term));
            push_count(&mut out, count);
        }
        // The last of them ends the list.
        out.pop();
        out.push(b']');
    }
    let columns = &snapshot.columns;
    let spelled = |column: &Column, codes: &Option<Range<u32>>| {
        let (low, high) = column.extremes(matching, total, codes.as_ref())?;
        Some((column.values().spelled(low)?, column.values().spelled(high)?))
    };
    range(&mut out, "price_range", spelled(&columns.price, &bounds.price));
    range(&mut out, "mileage_range", spelled(&columns.mileage, &bounds.mileage));
    range(&mut out, "year_range", years(snapshot, &counts));
    range(&mut out, "displacement_cc_range", spelled(&columns.displacement, &bounds.displacement));
    range(&mut out, "electric_range_mi_range", spelled(&columns.electric_range, &bounds.electric_range));
    out.push(b'}');
    out
}

/// The first and the last year that was counted.
fn years<'s>(snapshot: &'s Snapshot, counts: &[u32]) -> Option<(&'s [u8], &'s [u8])> {
    let mut years = snapshot.terms.of(Field::Year).filter(|term| counts.get(*term as usize) > Some(&0));
    let first = years.next()?;
    Some((snapshot.terms.told(first), snapshot.terms.told(years.next_back().unwrap_or(first))))
}

fn range<T: AsRef<[u8]>>(out: &mut Vec<u8>, name: &str, ends: Option<(T, T)>) {
    if let Some((low, high)) = ends {
        begin(out, name);
        out.extend_from_slice(b"{\"min\":");
        out.extend_from_slice(low.as_ref());
        out.extend_from_slice(b",\"max\":");
        out.extend_from_slice(high.as_ref());
        out.push(b'}');
    }
}

fn begin(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(if out.len() > 1 { b",\"" } else { b"\"" });
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// A count, the end of its value, and a comma. Filters leave most counts small.
#[inline]
fn push_count(out: &mut Vec<u8>, count: u32) {
    let digit = |number: u32| b'0' + (number % 10) as u8;
    match count {
        0..10 => out.extend_from_slice(&[digit(count), b'}', b',']),
        10..100 => out.extend_from_slice(&[digit(count / 10), digit(count), b'}', b',']),
        _ => {
            push_number(out, count);
            out.extend_from_slice(b"},");
        }
    }
}

fn push_number(out: &mut Vec<u8>, mut number: u32) {
    let mut digits = [0_u8; 10];
    let mut used = 0;
    for digit in digits.iter_mut().rev() {
        let last = (number % 10) as u8;
        *digit = b'0' + last;
        used += 1;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(digits.len() - used..).unwrap_or_default());
}

/// For every faceted term the number of rows in `matching` that have it.
fn counts(snapshot: &Snapshot, matching: &Bits, total: usize) -> Vec<u32> {
    let terms = &snapshot.terms;
    let sets = terms.sets();
    let mut counts = vec![0_u32; terms.faceted()];
    if total == snapshot.rows {
        (0..).zip(&mut counts).for_each(|(term, count)| *count = sets.len(term));
        return counts;
    }
    // Where most rows match it is less work to count those that do not.
    let rest = (total > snapshot.rows / 2).then(|| matching.complement(snapshot.rows));
    let rows = rest.as_ref().unwrap_or(matching);
    let fewer = total.min(snapshot.rows - total);
    // The first fields have few values: those may be counted by their sets, the others row by row.
    let cost = |split: usize| {
        let by_set: usize = (0..split).map(|field| terms.cost(field)).sum();
        let a_row = if split == FACETED { 0 } else { ROW + CELL * (FACETED - split) };
        by_set + fewer * a_row
    };
    let split = [0, 4, 8, 12, FACETED].into_iter().min_by_key(|split| cost(*split)).unwrap_or(0);
    for term in (0..split).flat_map(|field| terms.counted(field)) {
        if let Some(count) = counts.get_mut(term as usize) {
            *count = u32::try_from(sets.rows(term).count_in(rows)).unwrap_or(u32::MAX);
        }
    }
    match terms.cells() {
        Cells::Narrow(cells) => count_rows(cells, rows, split, &mut counts),
        Cells::Wide(cells) => count_rows(cells, rows, split, &mut counts),
    }
    if rest.is_some() {
        (0..).zip(&mut counts).for_each(|(term, count)| *count = sets.len(term) - *count);
    }
    counts
}

/// Counts the fields from `split` on, row by row.
fn count_rows<T: Copy + Into<u32>>(cells: &[[T; FACETED]], rows: &Bits, split: usize, counts: &mut [u32]) {
    match split {
        0 => count_last::<T, FACETED>(cells, rows, counts),
        4 => count_last::<T, 12>(cells, rows, counts),
        8 => count_last::<T, 8>(cells, rows, counts),
        12 => count_last::<T, 4>(cells, rows, counts),
        _ => {}
    }
}

/// The last `N` fields; a fixed number, so that the inner loop is none.
fn count_last<T: Copy + Into<u32>, const N: usize>(cells: &[[T; FACETED]], rows: &Bits, counts: &mut [u32]) {
    // Rows lie far apart in memory: read first without looking at what is read, they are waited for at once.
    let mut read = 0_u32;
    rows.each(|row| {
        read ^= cells.get(row as usize).and_then(|cells| cells.last()).map_or(0, |term| (*term).into());
    });
    black_box(read);
    rows.each(|row| {
        if let Some(cells) = cells.get(row as usize).and_then(|cells| cells.last_chunk::<N>()) {
            for term in cells {
                if let Some(count) = counts.get_mut((*term).into() as usize) {
                    *count += 1;
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_usual() {
        for number in [0, 7, 10, 99, 100, 65_535, 1_000_000_000, u32::MAX] {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(out, number.to_string().as_bytes());
            push_count(&mut out, number);
            assert_eq!(out, format!("{number}{number}}},").as_bytes());
        }
    }
}
