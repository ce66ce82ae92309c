//! Which units a request asks for.

use std::ops::Range;

use contract::payload::Filters;
use contract::text::{contains_at_word_boundary, fold};
use memchr::memmem::Finder;

use crate::Snapshot;
use crate::bitset::Bits;
use crate::column::Column;
use crate::terms::Field;
use crate::text;
use crate::unit::Unit;

/// The codes that a column is bounded to; `None` where it is not.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    pub(crate) year: Option<Range<u32>>,
    pub(crate) price: Option<Range<u32>>,
    pub(crate) mileage: Option<Range<u32>>,
    pub(crate) displacement: Option<Range<u32>>,
    pub(crate) electric_range: Option<Range<u32>>,
}

/// The units that satisfy all filters; `None` if nothing is asked, so that all of them do. With them what is
/// known of their numbers, so that nobody looks for the smallest price where none can be.
pub(crate) fn matching(snapshot: &Snapshot, filters: &Filters) -> (Option<Bits>, Bounds) {
    // Taken apart, so that a new filter cannot be forgotten here.
    let Filters {
        make,
        model,
        trim,
        condition,
        vehicle_type,
        transmission,
        fuel,
        driveline,
        body,
        charge_port,
        exterior_color,
        interior_color,
        rooftops,
        status,
        features,
        dc_fast_charge,
        year_min,
        year_max,
        price_min,
        price_max,
        mileage_max,
        displacement_cc_min,
        displacement_cc_max,
        electric_range_mi_min,
        electric_range_mi_max,
        vin,
        stock,
        query,
    } = filters;
    let mut found = Narrowing { snapshot, bits: None };
    let unit = |row: u32| snapshot.units.get(row);
    if let Some(vin) = vin {
        found.rows(snapshot.vins.all(vin, |row| unit(row).and_then(Unit::vin)));
    }
    if let Some(stock) = stock {
        found.rows(snapshot.stocks.all(stock, |row| unit(row).and_then(Unit::stock)));
    }
    found.equal(Field::Make, make);
    found.equal(Field::Model, model);
    found.equal(Field::Trim, trim);
    found.equal(Field::Condition, condition);
    found.equal(Field::VehicleType, vehicle_type);
    found.equal(Field::Fuel, fuel);
    found.equal(Field::Driveline, driveline);
    found.equal(Field::Body, body);
    found.equal(Field::ChargePort, charge_port);
    found.equal(Field::Rooftop, rooftops);
    found.equal(Field::Status, status);
    found.named(Field::Transmission, transmission);
    found.named(Field::ExteriorColor, exterior_color);
    found.named(Field::InteriorColor, interior_color);
    for feature in features {
        found.equal(Field::Features, std::slice::from_ref(feature));
    }
    if *dc_fast_charge == Some(true) {
        found.any(snapshot.terms.named(Field::DcFastCharge, "true").as_slice());
    }
    let columns = &snapshot.columns;
    let bounds = Bounds {
        year: found.between(&columns.year, *year_min, *year_max),
        price: found.between(&columns.price, *price_min, *price_max),
        mileage: found.between(&columns.mileage, None, *mileage_max),
        displacement: found.between(&columns.displacement, *displacement_cc_min, *displacement_cc_max),
        electric_range: found.between(
            &columns.electric_range,
            *electric_range_mi_min,
            *electric_range_mi_max,
        ),
    };
    if let Some(query) = query {
        text::restrict(snapshot, &mut found.bits, query);
    }
    (found.bits, bounds)
}

struct Narrowing<'s> {
    snapshot: &'s Snapshot,
    bits: Option<Bits>,
}

impl Narrowing<'_> {
    /// Keeps units whose value is one of `values`; an empty list asks for nothing.
    fn equal(&mut self, field: Field, values: &[String]) {
        if values.is_empty() {
            return;
        }
        let terms = &self.snapshot.terms;
        // Values that no unit has match nothing; they are not ignored.
        let terms: Vec<u32> = values.iter().filter_map(|value| terms.named(field, &fold(value))).collect();
        self.any(&terms);
    }

    /// The same for free-text fields, where a value may also occur in the unit's at word boundaries.
    fn named(&mut self, field: Field, values: &[String]) {
        if values.is_empty() {
            return;
        }
        let terms = &self.snapshot.terms;
        let range = terms.of(field);
        let lines = range.start as usize..range.end as usize;
        let mut found = Vec::new();
        for value in values {
            let folded = fold(value);
            if folded.is_empty() {
                found.extend(terms.named(field, ""));
                continue;
            }
            terms.lines().search(
                &Finder::new(folded.as_bytes()),
                lines.clone(),
                |_| true,
                |term| {
                    let text = terms.lines().line(term);
                    let whole = || {
                        std::str::from_utf8(text).is_ok_and(|text| contains_at_word_boundary(text, &folded))
                    };
                    if text == folded.as_bytes() || whole() {
                        found.extend(u32::try_from(term));
                    }
                    true
                },
            );
        }
        self.any(&found);
    }

    /// Keeps units that have one of these terms.
    fn any(&mut self, terms: &[u32]) {
        let sets = self.snapshot.terms.sets();
        match (terms, &mut self.bits) {
            ([term], Some(bits)) => sets.rows(*term).restrict(bits),
            ([term], none) => *none = Some(sets.rows(*term).bits(self.snapshot.rows)),
            (_, _) => {
                let mut union = Bits::empty(self.snapshot.rows);
                for term in terms {
                    sets.rows(*term).add_to(&mut union);
                }
                self.and(union);
            }
        }
    }

    /// Keeps these units.
    fn rows(&mut self, rows: impl Iterator<Item = u32>) {
        let mut bits = Bits::empty(self.snapshot.rows);
        rows.for_each(|row| bits.insert(row));
        self.and(bits);
    }

    fn and(&mut self, other: Bits) {
        match &mut self.bits {
            Some(bits) => bits.and(other.words()),
            None => self.bits = Some(other),
        }
    }

    /// Keeps units within inclusive bounds; the codes of those.
    fn between(&mut self, column: &Column, low: Option<i64>, high: Option<i64>) -> Option<Range<u32>> {
        if low.is_none() && high.is_none() {
            return None;
        }
        let codes = column.values().between(low, high);
        column.restrict(&mut self.bits, &codes);
        Some(codes)
    }
}
