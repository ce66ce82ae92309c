//! The columns of the next version of a lot: ranks and orders are carried over, new values merged in.

use std::cmp::Ordering;
use std::sync::Arc;

use contract::Listing;
use contract::text::fold;

use crate::bitset::Bits;
use crate::build::moment;
use crate::column::{Column, ordered};
use crate::shift::Shift;
use crate::terms::{Field, Terms};
use crate::units::Units;
use crate::values::{Ordered, Values};
use crate::{Columns, Snapshot};

/// What a code of the next version stands for.
#[derive(Debug, Clone, Copy)]
enum Origin {
    Old(u32),
    /// The key of this fresh unit.
    Fresh(usize),
}

/// A fresh unit's key among those there were.
struct Place {
    /// The code it has, or that it comes before.
    code: u32,
    known: bool,
    /// Which of the fresh units.
    at: usize,
    row: u32,
}

impl Column {
    /// The column of the next version and what its codes stand for; `None` if it is the same. `keys` are those of
    /// the fresh rows; `order` holds a value there was, by its code, against a key.
    fn next<K: Ord>(
        &self,
        shift: &Shift,
        keys: &[Option<K>],
        order: impl Fn(u32, &K) -> Ordering,
    ) -> Option<(Column, Vec<Origin>)> {
        let had = |row: u32, key: &Option<K>| match (self.code(row), key) {
            (code, None) => code >= self.card(),
            (code, Some(key)) => code < self.card() && order(code, key).is_eq(),
        };
        let mut places: Vec<Place> = Vec::with_capacity(keys.len());
        let mut same = !shift.moved;
        for (at, ((row, old), key)) in shift.fresh.iter().zip(keys).enumerate() {
            let kept = old.filter(|old| had(*old, key));
            same &= kept.is_some();
            let Some(key) = key else { continue };
            let (code, known) = match kept {
                Some(old) => (self.code(old), true),
                None => self.place_of_key(|code| order(code, key)),
            };
            places.push(Place { code, known, at, row: *row });
        }
        if same {
            return None;
        }
        let key = |place: &Place| keys.get(place.at).and_then(Option::as_ref);
        // A new value comes before the one it is less than; among themselves by value; equal ones by row.
        places.sort_unstable_by(|a, b| {
            let by_value = || if a.known { Ordering::Equal } else { key(a).cmp(&key(b)) };
            (a.code, a.known).cmp(&(b.code, b.known)).then_with(by_value).then(a.row.cmp(&b.row))
        });

        let mut merge = Merge {
            codes: vec![u32::MAX; shift.rows],
            order: Vec::with_capacity(shift.rows),
            has: shift.bits(self.has().words()),
            origins: Vec::new(),
        };
        let same_key = |a: usize, b: &Place| keys.get(a).and_then(Option::as_ref) == key(b);
        let mut coming = places.iter().peekable();
        let put = |merge: &mut Merge, place: &Place| {
            merge.has.insert(place.row);
            match merge.origins.last() {
                _ if place.known => merge.old(place.code, place.row),
                Some(Origin::Fresh(last)) if same_key(*last, place) => merge.push(place.row),
                _ => merge.new_code(Origin::Fresh(place.at), place.row),
            }
        };
        self.order().each(0..self.order().len(), |row| {
            if let Some(now) = shift.kept(row) {
                let code = self.code(row);
                while let Some(place) =
                    coming.next_if(|place| (place.code, place.known, place.row) < (code, true, now))
                {
                    put(&mut merge, place);
                }
                merge.old(code, now);
            }
        });
        coming.for_each(|place| put(&mut merge, place));
        let card = u32::try_from(merge.origins.len()).unwrap_or(u32::MAX);
        Some((Column::of_parts(card, merge.codes, &merge.order, merge.has), merge.origins))
    }

    /// The code of a key, or the code that it comes before.
    fn place_of_key(&self, order: impl Fn(u32) -> Ordering) -> (u32, bool) {
        let (mut low, mut high) = (0, self.card());
        while low < high {
            let middle = low + (high - low) / 2;
            match order(middle) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return (middle, true),
            }
        }
        (low, false)
    }
}

/// A column that is being written, from its smallest value to its largest.
struct Merge {
    codes: Vec<u32>,
    order: Vec<u32>,
    has: Bits,
    origins: Vec<Origin>,
}

impl Merge {
    /// The next row has the value that had this code.
    #[inline]
    fn old(&mut self, code: u32, row: u32) {
        match self.origins.last() {
            Some(Origin::Old(last)) if *last == code => self.push(row),
            _ => self.new_code(Origin::Old(code), row),
        }
    }

    fn new_code(&mut self, origin: Origin, row: u32) {
        self.origins.push(origin);
        self.push(row);
    }

    /// The next row has the same value as the one before.
    #[inline]
    fn push(&mut self, row: u32) {
        if let Some(code) = self.codes.get_mut(row as usize) {
            *code = u32::try_from(self.origins.len()).unwrap_or(u32::MAX) - 1;
        }
        self.order.push(row);
    }
}

/// A column whose values it knows itself.
fn valued<K: Ord + Copy>(
    column: &Arc<Column>,
    shift: &Shift,
    keys: &[Option<K>],
    value: impl Fn(&Values, u32) -> Option<K>,
    values: impl FnOnce(Vec<K>) -> Values,
    bounded: bool,
) -> Arc<Column> {
    let known = |code: u32| value(column.values(), code);
    match column.next(shift, keys, |code, key| known(code).as_ref().cmp(&Some(key))) {
        None => Arc::clone(column),
        Some((next, origins)) => {
            let of = |origin: &Origin| match origin {
                Origin::Old(code) => known(*code),
                Origin::Fresh(at) => keys.get(*at).copied().flatten(),
            };
            Arc::new(next.with(values(origins.iter().filter_map(of).collect()), bounded))
        }
    }
}

/// A column in the order of folded texts that are elsewhere: `text` tells that of a code.
fn texted<'t>(
    column: &Arc<Column>,
    shift: &Shift,
    keys: &[Option<String>],
    text: impl Fn(u32) -> std::borrow::Cow<'t, [u8]>,
) -> Arc<Column> {
    match column.next(shift, keys, |code, key| (*text(code)).cmp(key.as_bytes())) {
        None => Arc::clone(column),
        Some((next, _)) => Arc::new(next),
    }
}

/// The columns of the version after `old`.
pub(crate) fn next(old: &Snapshot, shift: &Shift, fresh: &[&Listing]) -> Columns {
    let columns = &old.columns;
    let whole = |column: &Arc<Column>, get: &dyn Fn(&Listing) -> Option<i64>, bounded: bool| {
        let keys: Vec<_> = fresh.iter().map(|unit| get(unit)).collect();
        valued(column, shift, &keys, Values::whole, Values::of_whole, bounded)
    };
    let term = |column: &Arc<Column>, field: Field, get: fn(&Listing) -> Option<&str>| {
        let keys: Vec<_> = fresh.iter().map(|unit| get(unit).map(fold)).collect();
        let terms: &Terms = &old.terms;
        let start = terms.of(field).start;
        // A code is the place of the value in its field.
        texted(column, shift, &keys, |code| terms.lines().line((start + code) as usize).into())
    };
    let ranges = ordered(&fresh.iter().map(|unit| unit.electric_range_mi).collect::<Vec<_>>());
    let range = |values: &Values, code: u32| values.real(code).map(Ordered);
    let ranges_told = |values: Vec<Ordered>| Values::Real(values.into_iter().map(|v| v.0).collect());
    let moments: Vec<_> = fresh.iter().map(|unit| Some(moment(unit))).collect();
    let told_moments = |values: Vec<_>| Values::of_moments(&values);
    Columns {
        price: whole(&columns.price, &|unit| unit.price, true),
        list_price: whole(&columns.list_price, &|unit| unit.list_price, false),
        msrp: whole(&columns.msrp, &|unit| unit.msrp, false),
        mileage: whole(&columns.mileage, &|unit| unit.mileage, true),
        year: whole(&columns.year, &|unit| unit.year.map(i64::from), true),
        displacement: whole(&columns.displacement, &|unit| unit.displacement_cc, true),
        electric_range: valued(&columns.electric_range, shift, &ranges, range, ranges_told, true),
        make: term(&columns.make, Field::Make, |unit| unit.make.as_deref()),
        model: term(&columns.model, Field::Model, |unit| unit.model.as_deref()),
        stock: stock(&columns.stock, shift, fresh, &old.units),
        updated_at: valued(&columns.updated_at, shift, &moments, Values::moment, told_moments, false),
    }
}

/// No term of the lot: the units tell the texts.
fn stock(column: &Arc<Column>, shift: &Shift, fresh: &[&Listing], units: &Units) -> Arc<Column> {
    let keys: Vec<_> = fresh.iter().map(|unit| unit.stock.as_deref().map(fold)).collect();
    texted(column, shift, &keys, |code| {
        let row = column.order().get(column.start_of(code));
        let stock = row.and_then(|row| units.get(row)?.stock());
        stock.map(fold).unwrap_or_default().into_bytes().into()
    })
}
