//! Files of dealers: a lot as a table, as a website provider sends it.

use std::fmt::Write as _;

use super::{Lot, Unit};

/// A file of a lot.
#[derive(Debug, Clone)]
pub(crate) struct Feed<'l> {
    lot: &'l Lot,
    /// The first one of the lot, or one of a later day.
    later: bool,
}

const HEADER: &str = "VIN,Stock #,New/Used,Year,Make,Model,Trim,Body,Fuel Type,Drivetrain,Transmission,Engine,\
                      Exterior Color,Interior Color,Price,MSRP,Mileage,Status,Features,Photos,VDP URL,Description,\
                      Date In Stock,Location\n";

impl Feed<'_> {
    /// The whole lot.
    pub(crate) fn first(lot: &Lot) -> Feed<'_> {
        Feed { lot, later: false }
    }

    /// The same lot with another price and mileage of two units in a hundred, one in a hundred gone and as many new.
    pub(crate) fn later(lot: &Lot) -> Feed<'_> {
        Feed { lot, later: true }
    }

    /// How many units it has.
    pub(crate) fn units(&self) -> u32 {
        self.lot.units
    }

    /// The file.
    pub(crate) fn csv(&self) -> String {
        let mut text = String::with_capacity(self.lot.units as usize * 2_300);
        text.push_str(HEADER);
        let first = if self.later { self.lot.units / 100 } else { 0 };
        for number in first..first + self.lot.units {
            let changes = if self.later && number % 50 == 27 { 11 } else { 0 };
            push(&mut text, &Unit::new(self.lot, number, changes), &self.lot.slug, changes);
        }
        text
    }

    /// Only some units of it, with another mileage: `one_in` as many as the lot has.
    pub(crate) fn some(&self, one_in: u32) -> String {
        let mut text = String::from(HEADER);
        for number in (0..self.lot.units).step_by(one_in as usize) {
            push(&mut text, &Unit::new(self.lot, number, 0), &self.lot.slug, 23);
        }
        text
    }

    /// The same rows from the last to the first: other bytes that say the same.
    pub(crate) fn turned(&self) -> String {
        let text = self.csv();
        let mut turned = String::with_capacity(text.len());
        turned.push_str(HEADER);
        for line in text.lines().skip(1).collect::<Vec<_>>().into_iter().rev() {
            turned.push_str(line);
            turned.push('\n');
        }
        turned
    }
}

fn push(text: &mut String, unit: &Unit, slug: &str, driven: u32) {
    let features = unit.features.join(", ").replace('_', " ");
    let photos: Vec<String> =
        (1..=3).map(|n| format!("https://photos.example/{slug}/{}-{n}.jpg", unit.id)).collect();
    let price = unit.price.map(|price| price.to_string()).unwrap_or_default();
    let _ = writeln!(
        text,
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{price},{},{},{},\"{features}\",{},https://{slug}.example/inventory/{},\"{}\",{},{}",
        checked(&unit.vin),
        unit.stock,
        unit.condition,
        unit.year,
        unit.make,
        unit.model,
        unit.trim,
        unit.body,
        unit.fuel,
        unit.driveline,
        unit.transmission,
        unit.engine,
        unit.exterior,
        unit.interior,
        unit.msrp,
        unit.mileage + driven,
        unit.status,
        photos.join("|"),
        unit.stock,
        unit.description,
        unit.updated_at.date_naive(),
        unit.rooftop,
    );
}

/// A VIN with the ninth sign that its others ask for (49 CFR 565.15).
fn checked(vin: &str) -> String {
    const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    let value = |sign: char| match sign {
        '0'..='9' => u32::from(sign) - u32::from('0'),
        'A'..='H' => u32::from(sign) - u32::from('A') + 1,
        'J'..='R' => u32::from(sign) - u32::from('J') + 1,
        'S'..='Z' => u32::from(sign) - u32::from('S') + 2,
        _ => 0,
    };
    let sum: u32 = vin.chars().zip(WEIGHTS).map(|(sign, weight)| value(sign) * weight).sum();
    let check = if sum % 11 == 10 { 'X' } else { char::from_digit(sum % 11, 10).unwrap_or('0') };
    vin.chars().enumerate().map(|(at, sign)| if at == 8 { check } else { sign }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::measured;
    use super::*;

    #[test]
    fn the_check_sign_is_as_the_rule_says() {
        assert_eq!(checked("1M8GDM9A0KP042788"), "1M8GDM9AXKP042788");
        assert_eq!(checked("1HGCM82603A004352"), "1HGCM82633A004352");
    }

    #[test]
    fn a_later_file_has_two_in_a_hundred_changed_and_one_exchanged() {
        let lot = measured(1_000);
        let (first, later) = (Feed::first(&lot).csv(), Feed::later(&lot).csv());
        let lines =
            |text: &str| text.lines().skip(1).map(str::to_owned).collect::<std::collections::HashSet<_>>();
        let (first, later) = (lines(&first), lines(&later));
        assert_eq!((first.len(), later.len()), (1_000, 1_000));
        assert_eq!(later.difference(&first).count(), 30);
        assert_eq!(lines(&Feed::first(&lot).turned()), first);
    }
}
