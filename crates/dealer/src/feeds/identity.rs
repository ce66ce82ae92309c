//! Which unit of the dealer a row of a file is: by VIN, without one by stock number within a rooftop.
//!
//! A unit keeps its id whatever happens to its price, rooftop or stock number, when it comes back after it was
//! removed, and when it gets a VIN later.

use std::collections::{HashMap, HashSet};

use super::units::{Brief, Gone};

/// A unit that the dealer has or had, as far as it is recognised by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known<'k> {
    pub(super) vehicle_id: &'k str,
    pub(super) vin: Option<&'k str>,
    pub(super) stock: Option<&'k str>,
    /// As its own source, or the lot, names the rooftop.
    pub(super) rooftop: Option<&'k str>,
    /// It is not on offer any more: only its VIN, or its stock number where it has none, says that it came back.
    pub(super) removed: bool,
}

/// All units that the rows of a file may be.
pub(super) struct Register<'r> {
    known: Vec<Known<'r>>,
    by_vin: HashMap<&'r str, Vec<usize>>,
    by_stock: HashMap<&'r str, Vec<usize>>,
    by_id: HashMap<&'r str, usize>,
    aliases: &'r HashMap<String, String>,
    /// What a rooftop is called by the dealer, by the name that some source has for it.
    rooftop: &'r dyn Fn(&str) -> String,
}

impl<'r> Register<'r> {
    /// `known` in the order in which they count: those of the source itself first.
    pub(super) fn new(
        known: impl IntoIterator<Item = Known<'r>>,
        aliases: &'r HashMap<String, String>,
        rooftop: &'r dyn Fn(&str) -> String,
    ) -> Register<'r> {
        let mut register = Register {
            known: Vec::new(),
            by_vin: HashMap::new(),
            by_stock: HashMap::new(),
            by_id: HashMap::new(),
            aliases,
            rooftop,
        };
        for one in known {
            let place = register.known.len();
            register.known.push(one);
            if let Some(vin) = one.vin {
                register.by_vin.entry(vin).or_default().push(place);
            }
            if let Some(stock) = one.stock {
                register.by_stock.entry(stock).or_default().push(place);
            }
            register.by_id.entry(one.vehicle_id).or_insert(place);
        }
        register
    }

    fn at(&self, place: usize) -> Option<Known<'r>> {
        self.known.get(place).copied()
    }

    /// Two names of one rooftop, or no word about it on one side.
    fn one_place(&self, a: Option<&str>, b: Option<&str>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => a == b || (self.rooftop)(a) == (self.rooftop)(b),
            _ => true,
        }
    }

    fn with_vin(&self, vin: &str, free: impl Fn(&str) -> bool) -> Option<&'r str> {
        let places = self.by_vin.get(vin)?;
        let of_vin = places.iter().filter_map(|place| self.at(*place));
        of_vin.map(|known| known.vehicle_id).find(|id| free(id))
    }

    fn with_stock(
        &self,
        stock: &str,
        rooftop: Option<&str>,
        fits: impl Fn(&Known<'_>) -> bool,
        free: impl Fn(&str) -> bool,
    ) -> Option<&'r str> {
        let places = self.by_stock.get(stock)?;
        let here = places
            .iter()
            .filter_map(|place| self.at(*place))
            .filter(|known| fits(known) && free(known.vehicle_id) && self.one_place(known.rooftop, rooftop));
        // The one that names the rooftop goes before one that names none.
        let mut here: Vec<Known<'r>> = here.collect();
        here.sort_by_key(|known| (known.removed, known.vin.is_some(), known.rooftop.is_none()));
        here.first().map(|known| known.vehicle_id)
    }

    /// The id of every row, in their order, and the names by which ids must be found from now on although they do
    /// not say them.
    pub(super) fn identify(&self, briefs: &[Brief]) -> (Vec<String>, Vec<(String, String)>) {
        let mut ids: Vec<Option<String>> = vec![None; briefs.len()];
        let mut taken: HashSet<String> = HashSet::with_capacity(briefs.len());
        let mut aliases = Vec::new();
        // Units that are known by their VIN choose first, so that no other takes their id by its stock number.
        for (brief, id) in briefs.iter().zip(&mut ids) {
            let Some(vin) = brief.vin.as_deref() else { continue };
            if let Some(known) = self.with_vin(vin, |id| !taken.contains(id)) {
                taken.insert(known.to_owned());
                *id = Some(known.to_owned());
            }
        }
        for (brief, id) in briefs.iter().zip(&mut ids).filter(|(_, id)| id.is_none()) {
            let free = |id: &str| !taken.contains(id);
            let (stock, rooftop) = (brief.stock.as_deref(), brief.rooftop.as_deref());
            let has_vin = brief.vin.is_some();
            // A unit that gets a VIN was known by its stock number; one that has none may have had one before.
            let fits = |known: &Known<'_>| known.vin.is_none() || (!has_vin && !known.removed);
            let known = stock.and_then(|stock| self.with_stock(stock, rooftop, fits, free));
            let name = name_of(brief);
            let chosen = match known {
                Some(known) => known.to_owned(),
                None => match self.aliases.get(&name).filter(|id| free(id) && self.may_return(id, brief)) {
                    Some(alias) => alias.clone(),
                    None => self.fresh(brief, &name, &taken),
                },
            };
            if chosen != name && has_vin {
                aliases.push((name, chosen.clone()));
            }
            taken.insert(chosen.clone());
            *id = Some(chosen);
        }
        (ids.into_iter().flatten().collect(), aliases)
    }

    /// Whether a unit of that id may be this row: nothing that is known of it says otherwise.
    fn may_return(&self, id: &str, brief: &Brief) -> bool {
        let Some(known) = self.by_id.get(id).and_then(|place| self.at(*place)) else { return true };
        match (known.vin, brief.vin.as_deref()) {
            (Some(known), Some(vin)) => known == vin,
            (known, vin) => known.is_none() || vin.is_some(),
        }
    }

    /// An id that no unit has or had.
    fn fresh(&self, brief: &Brief, name: &str, taken: &HashSet<String>) -> String {
        let free = |id: &str| !taken.contains(id) && !self.by_id.contains_key(id);
        if free(name) {
            return name.to_owned();
        }
        let mut base = name.to_owned();
        if let (None, Some(rooftop), Some(stock)) = (&brief.vin, &brief.rooftop, &brief.stock) {
            base = format!("stock-{}-{stock}", (self.rooftop)(rooftop));
        }
        let numbered = (2u32..).map(|number| format!("{base}-{number}"));
        std::iter::once(base.clone()).chain(numbered).find(|id| free(id)).unwrap_or(base)
    }

    /// The unit of this source that a file says is gone.
    pub(super) fn gone(&self, gone: &Gone) -> Option<&'r str> {
        let here = |known: &Known<'_>| !known.removed;
        if let Some(vin) = gone.vin.as_deref() {
            let places = self.by_vin.get(vin).map(Vec::as_slice).unwrap_or_default();
            let found = places.iter().filter_map(|place| self.at(*place)).find(here);
            if let Some(found) = found {
                return Some(found.vehicle_id);
            }
        }
        let fits = |known: &Known<'_>| here(known) && (gone.vin.is_none() || known.vin.is_none());
        self.with_stock(gone.stock.as_deref()?, gone.rooftop.as_deref(), fits, |_| true)
    }
}

/// The id that a unit has where nothing else is known of it.
pub(super) fn name_of(brief: &Brief) -> String {
    match (&brief.vin, &brief.stock) {
        (Some(vin), _) => format!("vin-{vin}"),
        (None, Some(stock)) => format!("stock-{stock}"),
        // The reader lets no row without either through.
        (None, None) => format!("row-{}", brief.row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known<'k>(
        vehicle_id: &'k str,
        vin: Option<&'k str>,
        stock: Option<&'k str>,
        rooftop: Option<&'k str>,
    ) -> Known<'k> {
        Known { vehicle_id, vin, stock, rooftop, removed: false }
    }

    fn brief(vin: Option<&str>, stock: Option<&str>, rooftop: Option<&str>) -> Brief {
        Brief {
            row: 1,
            hash: [0; 32],
            vin: vin.map(Into::into),
            stock: stock.map(Into::into),
            rooftop: rooftop.map(Into::into),
            price: None,
        }
    }

    fn ids(known: &[Known<'_>], briefs: &[Brief]) -> Vec<String> {
        ids_with(known, &HashMap::new(), briefs).0
    }

    fn ids_with(
        known: &[Known<'_>],
        aliases: &HashMap<String, String>,
        briefs: &[Brief],
    ) -> (Vec<String>, Vec<(String, String)>) {
        Register::new(known.iter().copied(), aliases, &|key| key.to_lowercase()).identify(briefs)
    }

    #[test]
    fn a_unit_is_known_by_its_vin_wherever_it_stands_and_whatever_its_stock_number() {
        let held = [known("harbor-7", Some("V1"), Some("S1"), Some("North"))];
        assert_eq!(ids(&held, &[brief(Some("V1"), Some("S9"), Some("South"))]), ["harbor-7"]);
    }

    #[test]
    fn a_new_unit_is_called_by_its_vin_else_by_its_stock_number_and_rooftop_where_two_have_it() {
        let briefs = [
            brief(Some("V1"), Some("S1"), Some("North")),
            brief(None, Some("S2"), Some("North")),
            brief(None, Some("S2"), Some("South")),
        ];
        assert_eq!(ids(&[], &briefs), ["vin-V1", "stock-S2", "stock-south-S2"]);
        // The same file again, with what was written of the first one.
        let named = ids(&[], &briefs);
        let held: Vec<Known<'_>> = named
            .iter()
            .zip(&briefs)
            .map(|(id, b)| known(id, b.vin.as_deref(), b.stock.as_deref(), b.rooftop.as_deref()))
            .collect();
        assert_eq!(ids(&held, &briefs), ["vin-V1", "stock-S2", "stock-south-S2"]);
        let turned = [briefs[2].clone(), briefs[1].clone(), briefs[0].clone()];
        assert_eq!(ids(&held, &turned), ["stock-south-S2", "stock-S2", "vin-V1"]);
    }

    #[test]
    fn a_unit_that_gets_a_vin_keeps_its_id_and_is_found_by_it_later() {
        let held = [known("stock-S1", None, Some("S1"), Some("North"))];
        let (id, aliases) = ids_with(&held, &HashMap::new(), &[brief(Some("V1"), Some("S1"), Some("north"))]);
        assert_eq!(id, ["stock-S1"]);
        assert_eq!(aliases, [("vin-V1".to_owned(), "stock-S1".to_owned())]);
        let aliases: HashMap<_, _> = aliases.into_iter().collect();
        assert_eq!(ids_with(&[], &aliases, &[brief(Some("V1"), None, None)]).0, ["stock-S1"]);
    }

    #[test]
    fn a_stock_number_that_another_vin_gets_is_another_unit() {
        let mut held = [known("vin-V1", Some("V1"), Some("S1"), None)];
        assert_eq!(ids(&held, &[brief(Some("V2"), Some("S1"), None)]), ["vin-V2"]);
        held[0].removed = true;
        assert_eq!(ids(&held, &[brief(None, Some("S1"), None)]), ["stock-S1"]);
        let mut gone = [known("stock-S1", None, Some("S1"), None)];
        gone[0].removed = true;
        assert_eq!(ids(&gone, &[brief(None, Some("S1"), None)]), ["stock-S1"]);
    }

    #[test]
    fn two_rows_never_share_an_id() {
        let held = [known("vin-V2", None, Some("S1"), None)];
        let (ids, _) = ids_with(
            &held,
            &HashMap::new(),
            &[
                brief(None, Some("S1"), None),
                brief(Some("V2"), None, None),
                brief(None, Some("S1"), Some("B")),
            ],
        );
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 3, "{ids:?}");
        assert_eq!(ids[0], "vin-V2");
    }

    #[test]
    fn what_is_gone_is_found_by_vin_and_by_the_stock_number_of_a_unit_without_one() {
        let held = [known("a", Some("V1"), Some("S1"), None), known("b", None, Some("S2"), Some("North"))];
        let aliases = HashMap::new();
        let register = Register::new(held, &aliases, &|key| key.to_owned());
        let gone = |vin: Option<&str>, stock: Option<&str>, rooftop: Option<&str>| {
            let text = |text: Option<&str>| text.map(Into::into);
            register
                .gone(&Gone {
                    vin: text(vin),
                    stock: text(stock),
                    rooftop: text(rooftop),
                    reason: "sold".into(),
                })
                .map(str::to_owned)
        };
        assert_eq!(gone(Some("V1"), None, None).as_deref(), Some("a"));
        assert_eq!(gone(None, Some("S1"), None).as_deref(), Some("a"));
        assert_eq!(gone(Some("V9"), Some("S1"), None), None, "another VIN under a number used before");
        assert_eq!(gone(Some("V9"), Some("S2"), None).as_deref(), Some("b"));
        assert_eq!(gone(None, Some("S2"), Some("South")), None);
    }
}
