//! The second opinion: the rules of AAP.md 7.3 and 7.4 as SQL.
//!
//! PostgreSQL folds case and normal forms in ways of its own, so folded texts stand in a table beside the
//! vehicles; everything else is asked of the stored columns.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use sqlx::{AssertSqlSafe, PgConnection, Postgres, QueryBuilder, Row};
use unicode_normalization::UnicodeNormalization;
use uuid::Uuid;

use super::lots::Lot;
use super::questions::Question;

/// Columns of texts that are compared folded.
const FOLDED: [&str; 17] = [
    "make",
    "model",
    "trim",
    "body",
    "fuel",
    "driveline",
    "transmission",
    "engine",
    "exterior_color",
    "interior_color",
    "charge_port",
    "rooftop",
    "condition",
    "vehicle_type",
    "status",
    "stock",
    "vin",
];
/// Facet, and the expression it counts.
const FACETS: [(&str, &str); 16] = [
    ("makes", "make"),
    ("models", "model"),
    ("trims", "trim"),
    ("years", "year"),
    ("conditions", "condition"),
    ("transmissions", "transmission"),
    ("fuels", "fuel"),
    ("drivelines", "driveline"),
    ("bodies", "body"),
    ("vehicle_types", "vehicle_type"),
    ("exterior_colors", "exterior_color"),
    ("interior_colors", "interior_color"),
    ("rooftops", "rooftop"),
    ("statuses", "status"),
    ("charge_ports", "charge_port"),
    ("dc_fast_charge", "dc_fast_charge"),
];
const RANGES: [(&str, &str); 5] = [
    ("price_range", "price_usd"),
    ("mileage_range", "mileage_mi"),
    ("year_range", "year"),
    ("displacement_cc_range", "displacement_cc"),
    ("electric_range_mi_range", "electric_range_mi"),
];

/// Unicode NFC, without blanks around, in lower case (AAP.md 7.4.1).
fn fold(text: &str) -> String {
    let composed: String = text.nfc().collect();
    composed.trim().to_lowercase().nfc().collect()
}

/// The text with a mark wherever a word may begin or end, so that "at word boundaries" becomes "contains".
fn marked(folded: &str) -> String {
    let mut text = String::from("\u{1}");
    let letters: Vec<char> = folded.chars().collect();
    for (i, letter) in letters.iter().enumerate() {
        text.push(*letter);
        match letters.get(i + 1) {
            Some(next) if letter.is_alphanumeric() && next.is_alphanumeric() => {}
            _ => text.push('\u{1}'),
        }
    }
    text
}

/// Puts the folded texts beside the vehicles.
pub(super) async fn prepare(admin: &mut PgConnection) {
    let columns: Vec<String> = FOLDED.iter().map(|name| format!("{name} text collate \"C\"")).collect();
    let table = format!(
        "create schema oracle;
         create table oracle.folded (tenant_id uuid, vehicle_id text collate \"C\", {},
             transmission_marked text collate \"C\", exterior_color_marked text collate \"C\",
             interior_color_marked text collate \"C\", features text[] not null, searched text collate \"C\" not null,
             primary key (tenant_id, vehicle_id))",
        columns.join(", ")
    );
    sqlx::raw_sql(AssertSqlSafe(table)).execute(&mut *admin).await.expect("the oracle's table");
    let rows =
        sqlx::query("select * from forecourt.vehicles").fetch_all(&mut *admin).await.expect("vehicles");
    for row in rows {
        let text = |name: &str| row.get::<Option<String>, _>(name).map(|text| fold(&text));
        let year: Option<i32> = row.get("year");
        let features: Vec<String> =
            row.get::<Vec<String>, _>("features").iter().map(|one| fold(one)).collect();
        let mut searched: Vec<String> = [
            "make",
            "model",
            "trim",
            "body",
            "fuel",
            "driveline",
            "transmission",
            "engine",
            "exterior_color",
            "interior_color",
            "description",
            "stock",
            "vin",
        ]
        .into_iter()
        .filter_map(text)
        .collect();
        searched.extend(features.iter().cloned());
        searched.extend(year.map(|year| year.to_string()));
        let mut insert = QueryBuilder::<Postgres>::new("insert into oracle.folded values (");
        let mut values = insert.separated(", ");
        values.push_bind(row.get::<Uuid, _>("tenant_id")).push_bind(row.get::<String, _>("vehicle_id"));
        for name in FOLDED {
            values.push_bind(text(name));
        }
        for name in ["transmission", "exterior_color", "interior_color"] {
            values.push_bind(text(name).map(|folded| marked(&folded)));
        }
        values.push_bind(features).push_bind(searched.join("\n"));
        insert.push(")").build().execute(&mut *admin).await.expect("a folded vehicle");
    }
    // Of several spellings that fold alike a facet tells the one that most units of the lot use.
    let spellings: Vec<String> = FACETS
        .iter()
        .filter(|(_, column)| FOLDED.contains(column))
        .map(|(facet, column)| {
            format!(
                "select distinct on (tenant_id, folded) tenant_id, '{facet}' as facet, folded, spelling
                 from (select v.tenant_id, f.{column} as folded, v.{column} as spelling, count(*) as uses
                       from forecourt.vehicles v join oracle.folded f using (tenant_id, vehicle_id)
                       where v.{column} is not null group by 1, 2, 3) all_spellings
                 order by tenant_id, folded, uses desc, spelling collate \"C\""
            )
        })
        .map(|one| format!("({one})"))
        .collect();
    let table = format!("create table oracle.shown as {}; analyze", spellings.join(" union all "));
    sqlx::raw_sql(AssertSqlSafe(table)).execute(admin).await.expect("the spellings");
}

/// A connection that knows the rules.
pub(super) struct Oracle {
    connection: PgConnection,
    pub(super) last_statement: String,
}

type Query = QueryBuilder<Postgres>;

impl Oracle {
    pub(super) fn new(connection: PgConnection) -> Oracle {
        Oracle { connection, last_statement: String::new() }
    }

    /// The ids of all matches, in order.
    pub(super) async fn ordered(&mut self, lot: &Lot, question: &Question) -> Vec<String> {
        let sort = question.effective_sort(lot);
        let column = match sort["field"].as_str().expect("a field") {
            "price" => "v.price_usd",
            "list_price" => "v.list_price_usd",
            "msrp" => "v.msrp_usd",
            "mileage" => "v.mileage_mi",
            "year" => "v.year",
            "make" => "f.make",
            "model" => "f.model",
            "stock" => "f.stock",
            "updated_at" => "v.updated_at",
            other => panic!("{other}"),
        };
        let mut query = Query::new("select v.vehicle_id ");
        matching(&mut query, lot, question);
        query.push(format!(
            " order by {column} {} nulls last, v.vehicle_id collate \"C\"",
            sort["order"].as_str().expect("an order")
        ));
        self.last_statement = query.sql().as_str().to_owned();
        let rows = query.build().fetch_all(&mut self.connection).await;
        rows.unwrap_or_else(|error| panic!("{error}: {}", self.last_statement))
            .iter()
            .map(|row| row.get("vehicle_id"))
            .collect()
    }

    /// The facets of the matches.
    pub(super) async fn facets(&mut self, lot: &Lot, question: &Question) -> HashMap<String, Value> {
        let mut query = Query::new("with m as materialized (select v.*, v.dc_fast_charge::text as charge");
        for name in FOLDED {
            query.push(format!(", f.{name} as {name}_folded"));
        }
        query.push(" ");
        matching(&mut query, lot, question);
        query.push(") ");
        for (i, (facet, column)) in FACETS.iter().enumerate() {
            let folded = format!("m.{column}_folded");
            let (value, place, group) = match *column {
                "year" => ("m.year::text".to_owned(), "lpad(m.year::text, 6, '0')", "m.year"),
                "dc_fast_charge" => ("m.charge".to_owned(), "m.charge", "m.charge"),
                _ => {
                    let shown = format!(
                        "(select s.spelling from oracle.shown s where s.facet = '{facet}' and s.folded = {folded}
                          and s.tenant_id = (select tenant_id from m limit 1))"
                    );
                    (shown, folded.as_str(), folded.as_str())
                }
            };
            let union = if i == 0 { "" } else { " union all " };
            query.push(format!(
                "{union}select {i} as number, {value} as value, count(*) as count, {place} collate \"C\" as place,
                        null::float8 as low, null::float8 as high
                 from m where m.{column} is not null group by {group}"
            ));
        }
        for (i, (_, column)) in RANGES.iter().enumerate() {
            query.push(format!(
                " union all select {} as number, null, count({column}), null, min({column})::float8, max({column})::float8 from m",
                100 + i
            ));
        }
        query.push(" order by number, count desc, place");
        let statement = query.sql().as_str().to_owned();
        let rows = query.build().fetch_all(&mut self.connection).await;
        let rows = rows.unwrap_or_else(|error| panic!("{error}: {statement}"));
        let mut facets: HashMap<String, Value> = HashMap::new();
        for row in rows {
            let (number, count): (i32, i64) = (row.get("number"), row.get("count"));
            if count == 0 {
                continue;
            }
            if let Some((name, _)) = usize::try_from(number - 100).ok().and_then(|range| RANGES.get(range)) {
                let (low, high): (f64, f64) = (row.get("low"), row.get("high"));
                facets.insert((*name).into(), json!({"min": low, "max": high}));
                continue;
            }
            let (name, _) = FACETS[usize::try_from(number).unwrap()];
            let text: String = row.get("value");
            let value = if name == "years" { json!(text.parse::<i64>().unwrap()) } else { json!(text) };
            let entry = json!({"value": value, "count": count});
            facets.entry(name.into()).or_insert_with(|| json!([])).as_array_mut().unwrap().push(entry);
        }
        facets
    }
}

/// `from … where …` of the units that match.
fn matching(query: &mut Query, lot: &Lot, question: &Question) {
    query.push(
        "from forecourt.vehicles v join oracle.folded f using (tenant_id, vehicle_id)
         where v.tenant_id = (select t.tenant_id from forecourt.tenants t where t.slug = ",
    );
    query.push_bind(lot.slug.clone()).push(")");
    let none = Map::new();
    let filters = question.filters.as_ref().and_then(Value::as_object).unwrap_or(&none);
    for (name, value) in filters {
        condition(query, name, value);
    }
}

fn condition(query: &mut Query, name: &str, value: &Value) {
    let texts: Vec<String> =
        value.as_array().into_iter().flatten().map(|term| fold(term.as_str().unwrap())).collect();
    if value.is_array() && texts.is_empty() {
        return;
    }
    // 20.0 and 20 ask for the same.
    let number = value.as_i64().or_else(|| value.as_f64().map(|number| number as i64));
    match name {
        "transmission" | "exterior_color" | "interior_color" => {
            query.push(format!(" and (f.{name} = any(")).push_bind(texts.clone()).push(")");
            for text in texts.iter().filter(|text| !text.is_empty()) {
                query.push(" or position(").push_bind(marked(text)).push(format!(" in f.{name}_marked) > 0"));
            }
            query.push(")");
        }
        "features" => {
            query.push(" and f.features @> ").push_bind(texts);
        }
        "rooftops" => {
            query.push(" and f.rooftop = any(").push_bind(texts).push(")");
        }
        "make" | "model" | "trim" | "body" | "fuel" | "driveline" | "charge_port" | "condition"
        | "status" | "vehicle_type" => {
            query.push(format!(" and f.{name} = any(")).push_bind(texts).push(")");
        }
        "dc_fast_charge" => {
            if value == &json!(true) {
                query.push(" and v.dc_fast_charge");
            }
        }
        "vin" | "stock" => {
            query.push(format!(" and v.{name} = ")).push_bind(value.as_str().unwrap().to_owned());
        }
        "query" => {
            for token in value.as_str().unwrap().split_whitespace() {
                query.push(" and position(").push_bind(fold(token)).push(" in f.searched) > 0");
            }
        }
        _ => {
            let (column, bound) = name.rsplit_once('_').unwrap();
            let column = match column {
                "price" => "price_usd",
                "mileage" => "mileage_mi",
                same => same,
            };
            query.push(format!(" and v.{column} {} ", if bound == "min" { ">=" } else { "<=" }));
            query.push_bind(number.unwrap_or_else(|| panic!("{name} must be a number: {value}")));
        }
    }
}
