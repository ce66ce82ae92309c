//! The synthetic dealers that everything is measured on. The same on every machine and in every run: what a unit
//! or a request is follows from its number alone.

mod catalog;
mod dice;
mod feed;
mod fill;
mod request;
mod unit;

pub(crate) use dice::Dice;
pub(crate) use feed::Feed;
pub(crate) use fill::{fill, provision, unfilled};
pub(crate) use request::{Asked, HOST, facets, get, post, search, vehicle};
pub(crate) use unit::Unit;

/// Raised when the data changes, so that a database of an earlier run is made anew.
pub(crate) const EDITION: u32 = 2;

/// A dealer's lot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lot {
    pub(crate) slug: String,
    pub(crate) units: u32,
    seed: u64,
}

impl Lot {
    pub(crate) fn new(slug: impl Into<String>, units: u32) -> Lot {
        let slug = slug.into();
        // FNV-1a: the standard library's hasher may differ between releases.
        let seed = slug.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Lot { slug, units, seed }
    }

    /// The unit of a number below `units`.
    pub(crate) fn unit(&self, number: u32) -> Unit {
        Unit::new(self, number, 0)
    }

    /// Chance that belongs to this lot and a purpose.
    fn dice(&self, purpose: u64) -> Dice {
        Dice::new(self.seed ^ purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// Sizes of the four lots that are measured one by one.
pub(crate) const MEASURED: [u32; 4] = [300, 1_000, 10_000, 50_000];

/// One of the measured lots.
pub(crate) fn measured(units: u32) -> Lot {
    Lot::new(format!("lot-{units}"), units)
}

/// Many lots of all sizes, most of them small: about a thousand units each on average.
pub(crate) fn mixed(count: u32) -> Vec<Lot> {
    let mut dice = Dice::new(7);
    let lot = |number| {
        // Evenly spread over the orders of magnitude from 80 to 8,000.
        let magnitude = 100_f64.powf(dice.fraction());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 80 and 8,000")]
        Lot::new(format!("dealer-{number:04}"), (80.0 * magnitude * 0.58) as u32 + 40)
    };
    (0..count).map(lot).collect()
}

/// Dealers that are all alike.
pub(crate) fn alike(count: u32, units: u32) -> Vec<Lot> {
    (0..count).map(|number| Lot::new(format!("same-{number:05}"), units)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_lots_have_all_sizes_and_a_thousand_units_on_average() {
        let lots = mixed(200);
        let sizes = || lots.iter().map(|lot| lot.units);
        let mean = sizes().sum::<u32>() / 200;
        assert!((800..1_300).contains(&mean), "{mean}");
        assert!(sizes().min() < Some(120) && sizes().max() > Some(4_000));
        assert_eq!(lots, mixed(200));
    }
}
