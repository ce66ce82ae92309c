//! Vehicle identification numbers as 49 CFR 565 lays them out.

/// Letters and digits of a VIN; I, O and Q are not used.
const SIGNS: &[u8; 33] = b"ABCDEFGHJKLMNPRSTUVWXYZ0123456789";
const LETTERS: usize = 23;
/// Model years from 2010 on; the round of 30 also leaves out U, Z and 0.
const YEARS: &[u8; 30] = b"ABCDEFGHJKLMNPRSTVWXY123456789";
/// What each place counts in the check sum; the ninth is the check digit itself.
const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/// A VIN: maker `wmi`, places 4 to 8 and the plant from `kind`, the model year, and a serial of six digits.
///
/// `None` if `wmi` is not three signs of a VIN or `year` lies before 2010.
pub(super) fn vin(wmi: &str, kind: u64, year: i64, serial: u32) -> Option<String> {
    // Place 7 is a letter on every light vehicle from 2010 on: that tells its year code from 1980's.
    let sign = |place: u32, choice: usize| {
        let part = usize::try_from((kind >> (8 * place)) & 0xff).unwrap_or(0);
        SIGNS.get(part % choice).copied()
    };
    let year_code = *YEARS.get(usize::try_from((year - 2010) % 30).ok()?)?;
    let mut text: Vec<u8> = wmi.bytes().collect();
    for (place, choice) in [(0, 33), (1, 33), (2, 33), (3, LETTERS), (4, 33)] {
        text.push(sign(place, choice)?);
    }
    text.extend([b'0', year_code, sign(5, LETTERS)?]);
    text.extend(format!("{:06}", serial % 1_000_000).bytes());
    let text = String::from_utf8(text).ok()?;
    let check = check_digit(&text)?;
    Some(text.char_indices().map(|(at, c)| if at == 8 { check } else { c }).collect())
}

fn check_digit(vin: &str) -> Option<char> {
    if vin.len() != WEIGHTS.len() {
        return None;
    }
    let mut sum = 0;
    for (c, weight) in vin.chars().zip(WEIGHTS) {
        let value = match c {
            '0'..='9' => c.to_digit(10)?,
            'A'..='H' => c as u32 - 'A' as u32 + 1,
            'J'..='N' => c as u32 - 'J' as u32 + 1,
            'P' => 7,
            'R' => 9,
            'S'..='Z' => c as u32 - 'S' as u32 + 2,
            _ => return None,
        };
        sum += value * weight;
    }
    match sum % 11 {
        10 => Some('X'),
        rest => char::from_digit(rest, 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_digit_is_the_published_one() {
        // The worked example of the check digit rule, and all ones, which pass by construction.
        assert_eq!(check_digit("1M8GDM9A0KP042788"), Some('X'));
        assert_eq!(check_digit("11111111111111111"), Some('1'));
        assert_eq!(check_digit("IIIIIIIIIIIIIIIII"), None);
        assert_eq!(check_digit("1M8GDM9A"), None);
    }

    #[test]
    fn the_year_code_goes_round_after_thirty_years() {
        for (year, code) in
            [(2010, 'A'), (2018, 'J'), (2023, 'P'), (2026, 'T'), (2027, 'V'), (2031, '1'), (2040, 'A')]
        {
            assert_eq!(vin("4T1", 0, year, 7).unwrap().chars().nth(9), Some(code), "{year}");
        }
        assert_eq!(vin("4T1", 0, 2009, 7), None);
        assert_eq!(vin("4T", 0, 2020, 7), None);
    }
}
