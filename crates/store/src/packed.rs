//! How a unit of a source is stored: its JSON, packed.
//!
//! Most units are shorter than what PostgreSQL packs by itself (2 KB), and all of them repeat the same names of
//! members. So they are packed here, against a dictionary of those names: a third to a fifth of the size, for a few
//! microseconds, and so much less to write for every import.

use lz4_flex::block;

/// First byte: the rest is the text itself.
const PLAIN: u8 = 0;
/// First byte: the rest is the length, four bytes, and an LZ4 block against [`DICTIONARY`].
const PACKED: u8 = 1;

/// What units have in common. Never to be changed: what is stored was packed against it. A better one gets a first byte
/// of its own, and this one stays for reading.
const DICTIONARY: &[u8] = br#"coming.dealer.com/photos/inventory/640x480/images/vehicle/https://www.https://cdn.https://photos..jpg","https://images..jpeg","https://","title_status":"clean","stock_type":"chassis_number":"also_at":[""],"Backup Camera","Bluetooth","Heated Seats","Sunroof","Leather Seats","Navigation","Apple CarPlay","Android Auto","Alloy Wheels","Remote Start","Blind Spot Monitor","Cruise Control","Chevrolet","Ford","Toyota","Honda","Nissan","Hyundai","Jeep","Ram","GMC","Subaru","Volkswagen","Mercedes-Benz","motorcycle","trailer","displacement_cc":,"city_mpg":2,"highway_mpg":3,"electric_range_mi":,"battery_kwh":,"motor_power_hp":,"dc_fast_charge":true,"charge_port":"nacs","manual","hybrid","phev","bev","diesel","sedan","truck","coupe","hatchback","minivan","fwd","rwd","4wd","new","cpo","pending","intransit","Black","White","Silver","Gray","Blue","Red","The vehicle has one owner and a clean history. Call today to schedule a test drive! ,"amounts":{"Price":,"MSRP":,"Internet Price":,"Selling Price":},"other_attributes":{"updated_at":"2026-11-T00:00:00Z","inventory_date":"2026-10-","description":"","vdp_url":"https://www.","photos":["https://"],"features":["","interior_color":"Black","exterior_color":"","engine":"2.0L I4","fuel":"gas","transmission":"automatic","driveline":"awd","body":"suv","mileage":,"msrp":,"asking_price":,"status":"available","condition":"used","trim":"","model":"","make":"","year":2024,"stock":"","vin":"1{"source_row":1,"rooftop_key":"","vehicle_type":"car","vin":""#;

/// Longer texts were not written by us: a unit is at most a few fields of 1 MiB.
const LONGEST: usize = 1 << 30;

/// The text as it is stored.
pub(crate) fn pack(text: &str) -> Vec<u8> {
    let block = block::compress_with_dict(text.as_bytes(), DICTIONARY);
    if block.len() + 4 >= text.len() {
        let mut stored = Vec::with_capacity(text.len() + 1);
        stored.push(PLAIN);
        stored.extend_from_slice(text.as_bytes());
        return stored;
    }
    let mut stored = Vec::with_capacity(block.len() + 5);
    stored.push(PACKED);
    stored.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    stored.extend_from_slice(&block);
    stored
}

/// The text that was stored; `None` when it was not stored by [`pack`].
pub(crate) fn unpack(stored: &[u8]) -> Option<String> {
    let (form, rest) = stored.split_first()?;
    let bytes = match *form {
        PLAIN => rest.to_vec(),
        PACKED => {
            let (length, block) = rest.split_first_chunk::<4>()?;
            let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
            if length > LONGEST {
                return None;
            }
            let bytes = block::decompress_with_dict(block, length, DICTIONARY).ok()?;
            if bytes.len() != length {
                return None;
            }
            bytes
        }
        _ => return None,
    };
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: &str = r#"{"source_row":7,"rooftop_key":"N","vehicle_type":"car","vin":"1HGCM82633A004352","stock":"A1","year":2021,"make":"Honda","model":"Accord","condition":"used","status":"available","asking_price":21990,"mileage":40100}"#;

    #[test]
    fn what_is_stored_comes_back() {
        let long = format!("{UNIT}{}", r#""https://cdn.example/photos/1.jpg","#.repeat(2_000));
        for text in ["", "x", "{}", "Škoda \u{0} 東風", UNIT, &long] {
            assert_eq!(unpack(&pack(text)).as_deref(), Some(text));
        }
        assert!(pack(UNIT).len() * 2 < UNIT.len(), "{}", pack(UNIT).len());
        assert!(pack(&long).len() * 20 < long.len());
        assert_eq!(pack("x"), [PLAIN, b'x']);
    }

    #[test]
    fn what_was_not_stored_by_us_is_refused() {
        let good = pack(UNIT);
        let mut longer = good.clone();
        longer[1] = longer[1].wrapping_add(1);
        let mut huge = good.clone();
        huge[1..5].fill(0xff);
        for bad in [
            &[][..],
            &[9, 1],
            &[PACKED],
            &[PACKED, 1, 0, 0],
            &good[..good.len() - 3],
            &longer,
            &huge,
            &[0, 0xff],
        ] {
            assert_eq!(unpack(bad), None, "{bad:?}");
        }
    }

    /// A row that was stored once must be readable for ever.
    #[test]
    fn the_dictionary_is_the_one_that_rows_were_packed_against() {
        use sha2::{Digest, Sha256};
        let hash = Sha256::digest(DICTIONARY);
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, "559d016f842b3a916f74c7cc7c856263b88b7352674f91d40e7498781537ce8a");
    }
}
