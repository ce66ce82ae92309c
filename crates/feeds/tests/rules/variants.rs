//! One lot written in every way that writers differ in: the same vehicles and the same findings come out.

use std::io::Write as _;

use feeds::Unit;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::table::{Checked, check_bytes};
use super::{config, vin};

/// Columns: the names that writers have for each.
const COLUMNS: [&[&str]; 17] = [
    &["VIN", "vin#", "Vehicle Identification Number", "Chassis", "Serial No"],
    &["Stock #", "stocknumber", "STK", "Unit Number", "Núm. Inventario"],
    &["Year", "YR", "Model Year", "Año"],
    &["Make", "brand", "Manufacturer", "Marca"],
    &["Model", "MDL", "Model Name", "Modelo"],
    &["New/Used", "N/U", "state_of_vehicle", "Stock Type", "Condición"],
    &["Miles", "Odometer", "ODO", "Millaje"],
    &["Price", "Selling Price", "Asking", "list_price", "Precio"],
    &["Status", "STAT", "Disposition", "Estado"],
    &["Body", "Body Style", "bodytype", "Carrocería"],
    &["Drivetrain", "DRV", "Drive Type", "Tracción"],
    &["Trans.", "Gearbox", "Transmission Type", "Transmisión"],
    &["Fuel", "Fuel Type", "Combustible"],
    &["Ext Color", "Colour", "Exterior Color", "Color Exterior"],
    &["Date In Stock", "DATEIN", "date_first_on_lot", "Fecha Entrada"],
    &["Description", "Vehicle Notes", "MEMO", "Descripción"],
    &["Photo URLs", "ImageList", "Pic URLs", "Fotos"],
];

fn cars() -> Vec<[String; 17]> {
    let car = |no: u32, cells: [&str; 15]| -> [String; 17] {
        let mut all = vec![vin(no), format!("A{no}")];
        all.extend(cells.map(str::to_owned));
        all.try_into().unwrap()
    };
    let photo = "https://x.example/1.jpg;https://x.example/2.jpg";
    vec![
        car(
            1,
            [
                "2020",
                "FORD",
                "Escape",
                "Used",
                "41,000",
                "$18,990",
                "A",
                "Sport Utility",
                "AWD",
                "A/T",
                "Gas",
                "Rouge été",
                "11/3/2026",
                "One owner, no smoke",
                photo,
            ],
        ),
        car(
            2,
            [
                "2020",
                "CHEVY",
                "Bolt",
                "N",
                "12",
                "31.500,00",
                "In Transit",
                "5-Door",
                "FWD",
                "A",
                "EV",
                "Blue",
                "46329",
                "<b>New</b> &amp; <i>clean</i>",
                "",
            ],
        ),
        car(
            3,
            [
                "2020",
                "Citroën",
                "C4",
                "CPO",
                "61,000 km",
                "Call",
                "On Hold",
                "4dr Car",
                "2WD",
                "M",
                "Diesel",
                "Blanco – perla",
                "2026-11-03",
                "Señor’s car",
                photo,
            ],
        ),
        car(
            4,
            [
                "2020", "Ford", "F-150", "U", "TMU", "24990.50", "Sold", "Crew Cab", "4x4", "DSG", "E85", "",
                "", "", "",
            ],
        ),
        car(5, ["20", "Ford", "F-150", "Good", "9", "1", "", "", "", "", "", "", "31/31/2026", "", ""]),
        car(
            6,
            [
                "",
                "Ram",
                "1500",
                "U",
                "99000",
                "9990",
                "Pending",
                "Pickup",
                "RWD",
                "",
                "",
                "Red",
                "",
                "=1+1",
                "/relative.jpg",
            ],
        ),
    ]
}

/// How a table is written.
struct Writer {
    delimiter: char,
    quote_all: bool,
    ending: &'static str,
    /// Which of the names each column has.
    names: usize,
    /// The columns are turned by so many places.
    turn: usize,
    /// Lines above the header.
    title: &'static str,
}

const PLAIN: Writer = Writer { delimiter: ',', quote_all: false, ending: "\n", names: 0, turn: 0, title: "" };

fn write(how: &Writer) -> String {
    let mut text = how.title.to_owned();
    let header = COLUMNS.map(|names| names[how.names % names.len()].to_owned());
    for mut row in std::iter::once(header).chain(cars()) {
        row.rotate_left(how.turn);
        let field = |cell: &String| {
            let quotes = how.quote_all || (",;".contains(how.delimiter) && cell.contains([',', ';', '"']));
            if quotes { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() }
        };
        let cells: Vec<String> = row.iter().map(field).collect();
        text.push_str(&cells.join(&how.delimiter.to_string()));
        text.push_str(how.ending);
    }
    text
}

/// What came of it, without what only tells the writer.
fn essence(checked: Checked) -> (Vec<Unit>, Vec<String>, Vec<String>) {
    let units = checked.units.iter().cloned().map(|mut unit| {
        unit.amounts.clear();
        unit
    });
    (units.collect(), checked.rows(), checked.excluded())
}

#[test]
fn one_lot_in_many_hands_is_one_lot() {
    let expected = essence(check_bytes(write(&PLAIN).as_bytes(), &config()));
    assert_eq!((expected.0.len(), expected.2.len()), (4, 1), "{expected:?}");
    let mut tables = Vec::new();
    for delimiter in [',', ';', '\t', '|'] {
        for ending in ["\n", "\r\n"] {
            for names in 0..4 {
                for quote_all in [false, true] {
                    // Pipe and tab writers quote nothing, and to their readers a quote is a sign like others.
                    if quote_all && matches!(delimiter, '\t' | '|') {
                        continue;
                    }
                    for (turn, title) in [(0, ""), (7, ""), (3, "Inventory report\n\n")] {
                        let how = Writer { delimiter, quote_all, ending, names, turn, title };
                        let what = format!(
                            "{delimiter:?} {ending:?} names {names} quoted {quote_all} turned {turn}"
                        );
                        tables.push((what, write(&how)));
                    }
                }
            }
        }
    }
    let mut wrong = Vec::new();
    for (what, text) in &tables {
        let utf16 = |to: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to).collect::<Vec<u8>>();
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        let western = text.chars().map(|sign| match sign {
            '’' => 0x92,
            '–' => 0x96,
            other => u8::try_from(u32::from(other)).unwrap(),
        });
        for (kind, bytes) in [
            ("utf-8", text.clone().into_bytes()),
            ("with a mark", format!("\u{feff}{text}").into_bytes()),
            ("utf-16le", [b"\xff\xfe".to_vec(), utf16(u16::to_le_bytes)].concat()),
            ("utf-16be", [b"\xfe\xff".to_vec(), utf16(u16::to_be_bytes)].concat()),
            ("utf-16le without a mark", utf16(u16::to_le_bytes)),
            ("utf-16be without a mark", utf16(u16::to_be_bytes)),
            ("windows-1252", western.collect()),
            ("gzip", packed.finish().unwrap()),
            ("without the last line break", text.trim_end_matches(['\r', '\n']).as_bytes().to_vec()),
        ] {
            let found = essence(check_bytes(&bytes, &config()));
            if found != expected {
                wrong.push(format!("{what}, {kind}: {:?} {:?}", found.1, found.2));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} differ: {:#?}",
        wrong.len(),
        tables.len() * 9,
        &wrong[..wrong.len().min(6)]
    );
}
