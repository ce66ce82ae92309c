//! What the examples of a document are made of: a vehicle of the dealer's own lot and the dealer's own answers, so that
//! who sends what the document shows gets the answer that it shows.
//!
//! Only what everybody may ask is shown: a dealer that asks for credentials, and one that cannot be searched, keeps its
//! lot for itself, and its documents keep the examples of the schemas. So does the document of a dealer without
//! vehicles, which has none to name.

use contract::listing::integer_restored;
use contract::{ContractSpec, SkillId};
use dealer::{Call, Caller, Dealer};
use serde_json::{Map, Value, json};

use super::narrow::Offered;
use crate::address::Target;

/// How many vehicles are looked at for one to show.
const LOOKED_AT: u64 = 24;
/// How many vehicles the search that is shown may find: more would be dull to read, and their cursor would soon be over.
const FOUND: u64 = 3;
/// How many bytes an answer may have to be shown whole, and how long the lists of any other are.
const SHORT: usize = 8 * 1024;
const SHORT_LIST: usize = 3;
/// The names of a vehicle, the one that every vehicle has first.
const NAMES: [&str; 3] = ["vehicle_id", "vin", "stock"];

/// Why examples could not be made: the dealer's answers are not to be had at the moment.
#[derive(Debug)]
pub(super) struct NotNow;

/// The dealer, to be asked for what a document shows.
pub(super) struct Source<'a> {
    pub(super) dealer: &'a Dealer,
    pub(super) target: &'a Target,
    pub(super) spec: &'static ContractSpec,
}

/// Everything that there is to show.
#[derive(Debug, Default)]
pub(super) struct Specimens {
    /// The answer of `dealer.information`.
    pub(super) information: Option<Value>,
    /// What is shown of the lot.
    pub(super) lot: Option<OfLot>,
    /// Which version of the lot that is from; `None` where nothing may be shown of it.
    pub(super) version: Option<u64>,
}

/// What is shown of a lot. Requests and answers are whole payloads.
#[derive(Debug)]
pub(super) struct OfLot {
    /// By what a vehicle of the lot can be asked for: names of [`NAMES`] with their values.
    pub(super) names: Vec<(&'static str, String)>,
    /// A vehicle as a search lists it.
    pub(super) vehicle: Value,
    /// Its answer by itself.
    pub(super) detail: Option<Value>,
    /// A value for each filter that finds it.
    pub(super) filters: Map<String, Value>,
    /// A search with its answer.
    pub(super) search: Option<(Value, Value)>,
    /// Facets with their answer.
    pub(super) facets: Option<(Value, Value)>,
}

impl OfLot {
    /// The value of one of the vehicle's names.
    pub(super) fn name(&self, name: &str) -> Option<&str> {
        self.names.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

impl Source<'_> {
    /// Whether everybody may see the lot by asking.
    fn is_open(&self) -> bool {
        let tenant = &self.target.tenant;
        tenant.access.is_public() && tenant.skills.contains(&SkillId::InventorySearch)
    }

    /// The payload of an answer with the version of the lot that it is from; the inner `None` is a refusal.
    async fn ask(&self, skill: SkillId, request: Value) -> Result<Option<(Value, Option<u64>)>, NotNow> {
        let call = Call {
            tenant: self.target.tenant.clone(),
            contract: self.spec.version,
            caller: Caller::anonymous(super::DOOR, None),
            min_version: None,
        };
        let mut request = request;
        if let Some(members) = request.as_object_mut() {
            members.insert("type".into(), skill.spec().request_type.into());
        }
        let mut out = Vec::new();
        match Box::pin(self.dealer.shown(&call, skill.spec(), request, &mut out)).await {
            Ok(answered) => {
                let payload = serde_json::from_slice(&out).map_err(|_| NotNow)?;
                Ok(Some((payload, answered.inventory_version)))
            }
            Err(fault) if fault.code.retryable() => Err(NotNow),
            Err(_) => Ok(None),
        }
    }

    async fn search(&self, filters: Value, limit: u64) -> Result<Option<(Value, Option<u64>)>, NotNow> {
        let request = json!({"filters": filters, "pagination": {"limit": limit}});
        self.ask(SkillId::InventorySearch, request).await
    }

    /// Gathers what there is to show.
    ///
    /// # Errors
    /// [`NotNow`].
    pub(super) async fn gather(&self) -> Result<Specimens, NotNow> {
        let mut specimens = Specimens::default();
        let tenant = &self.target.tenant;
        if tenant.access.is_public() && tenant.skills.contains(&SkillId::DealerInformation) {
            let answered = self.ask(SkillId::DealerInformation, json!({})).await?;
            specimens.information = answered.map(|(payload, _)| short(payload));
        }
        if !self.is_open() {
            return Ok(specimens);
        }
        let Some((listed, version)) = self.search(json!({}), LOOKED_AT).await? else { return Ok(specimens) };
        specimens.version = version;
        specimens.lot = self.of_lot(&listed).await?;
        Ok(specimens)
    }

    async fn of_lot(&self, listed: &Value) -> Result<Option<OfLot>, NotNow> {
        let all = listed.pointer("/data/vehicles").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // The one that has the most to show; of several the first.
        let Some(vehicle) = all.iter().rev().max_by_key(|vehicle| worth(vehicle)) else { return Ok(None) };
        let mut names = Vec::new();
        for name in NAMES {
            for one in std::iter::once(vehicle).chain(all) {
                let Some(value) = one.get(name).and_then(Value::as_str).filter(|value| is_segment(value))
                else {
                    continue;
                };
                if self.ask(SkillId::InventoryVehicle, json!({ name: value })).await?.is_some() {
                    names.push((name, value.to_owned()));
                    break;
                }
            }
        }
        let detail = match names.first() {
            Some((name, value)) => self.ask(SkillId::InventoryVehicle, json!({ *name: value })).await?,
            None => None,
        };
        let filters = self.filters(vehicle).await?;
        let search = self.example_search(&filters).await?;
        let facets = match &search {
            Some((request, _)) if self.target.tenant.skills.contains(&SkillId::InventoryFacets) => {
                let filters = request.get("filters").cloned().unwrap_or_default();
                let answered = self.ask(SkillId::InventoryFacets, json!({ "filters": filters })).await?;
                let request = json!({"type": "inventory.facets.request", "filters": filters});
                answered.map(|(payload, _)| (request, short(payload)))
            }
            _ => None,
        };
        let vehicle = vehicle.clone();
        Ok(Some(OfLot {
            names,
            vehicle,
            detail: detail.map(|(payload, _)| payload),
            filters,
            search,
            facets,
        }))
    }

    /// A value for each filter by which the vehicle is found: whoever sends all of them together finds it too.
    async fn filters(&self, vehicle: &Value) -> Result<Map<String, Value>, NotNow> {
        let mut filters = Map::new();
        for (name, value) in candidates(vehicle) {
            // Only what finds something: units without a price are not found by any, and a dealer need not offer all
            // filters.
            let found = self.search(json!({ name: value }), 1).await?;
            let total = found.and_then(|(payload, _)| payload.pointer("/data/total")?.as_u64());
            if total.is_some_and(|total| total > 0) {
                filters.insert(name.to_owned(), value);
            }
        }
        Ok(filters)
    }

    /// A search for the vehicle and its like whose answer is one short page.
    async fn example_search(&self, filters: &Map<String, Value>) -> Result<Option<(Value, Value)>, NotNow> {
        let field = Offered::by(&self.target.tenant, self.spec).sort_field("price");
        let ways: [&[&str]; 5] = [
            &["make", "condition"],
            &["make", "model"],
            &["make", "model", "year_min", "year_max"],
            &["vin"],
            &["stock"],
        ];
        for way in ways {
            let chosen: Map<String, Value> = way
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), filters.get(*name)?.clone())))
                .collect();
            if chosen.is_empty() {
                continue;
            }
            let mut request = json!({
                "type": "inventory.search.request",
                "filters": chosen,
                "pagination": {"limit": FOUND.min(self.target.tenant.policy.max_limit.into())},
            });
            if let (Some(field), Some(members)) = (field, request.as_object_mut()) {
                members.insert("sort".into(), json!({"field": field, "order": "asc"}));
            }
            let answered = self.ask(SkillId::InventorySearch, request.clone()).await?;
            let whole = |payload: &Value| {
                let total = payload.pointer("/data/total").and_then(Value::as_u64);
                let limit = payload.pointer("/data/limit").and_then(Value::as_u64);
                total.is_some() && total <= limit
            };
            if let Some((payload, _)) = answered.filter(|(payload, _)| whole(payload)) {
                return Ok(Some((request, payload)));
            }
        }
        Ok(None)
    }

    /// Whether what a document shows of a lot holds in the newest one, and in which version that is: it does as long as
    /// every vehicle that it names is offered, and where it names none, as long as there is none.
    ///
    /// # Errors
    /// [`NotNow`].
    pub(super) async fn still(&self, names: &[(&'static str, String)]) -> Result<Option<u64>, NotNow> {
        let mut oldest: Option<u64> = None;
        for (name, value) in names {
            let asked = self.ask(SkillId::InventoryVehicle, json!({ *name: value })).await?;
            let Some((_, Some(version))) = asked else { return Ok(None) };
            oldest = Some(oldest.map_or(version, |oldest| oldest.min(version)));
        }
        if names.is_empty() {
            let Some((payload, version)) = self.search(json!({}), 1).await? else { return Ok(None) };
            let total = payload.pointer("/data/total").and_then(Value::as_u64);
            oldest = version.filter(|_| total == Some(0));
        }
        Ok(oldest)
    }
}

/// An answer that is fit to be read: of a long one the lists are cut.
fn short(mut payload: Value) -> Value {
    fn cut(value: &mut Value) {
        match value {
            Value::Array(entries) => {
                entries.truncate(SHORT_LIST);
                entries.iter_mut().for_each(cut);
            }
            Value::Object(members) => members.values_mut().for_each(cut),
            _ => {}
        }
    }
    if payload.to_string().len() > SHORT {
        cut(&mut payload);
    }
    payload
}

/// How much a vehicle has to show.
fn worth(vehicle: &Value) -> usize {
    let has = |name: &str| vehicle.get(name).is_some();
    let named =
        NAMES.iter().filter(|name| vehicle.get(**name).and_then(Value::as_str).is_some_and(is_segment));
    let available = vehicle.get("status").is_some_and(|status| status == "available");
    4 * named.count() + 2 * usize::from(available) + usize::from(has("price")) + usize::from(has("make"))
}

/// Whether a name can stand in a path, and be read in a document: clients resolve `.` and `..`.
fn is_segment(value: &str) -> bool {
    !matches!(value, "" | "." | "..") && value.chars().count() <= 64 && !value.contains(char::is_control)
}

/// What filters say about a vehicle.
fn candidates(vehicle: &Value) -> Vec<(&'static str, Value)> {
    let member = |name: &str| vehicle.get(name).filter(|value| !value.is_null()).cloned();
    let text = |name: &str| member(name).filter(|value| value.as_str().is_some_and(|text| !text.is_empty()));
    let number = |name: &str| vehicle.get(name).and_then(Value::as_f64).filter(|number| *number >= 0.0);
    let mut all = Vec::new();
    for name in [
        "make",
        "model",
        "trim",
        "condition",
        "status",
        "vehicle_type",
        "body",
        "transmission",
        "fuel",
        "driveline",
        "exterior_color",
        "interior_color",
        "charge_port",
    ] {
        all.extend(text(name).map(|value| (name, json!([value]))));
    }
    let feature = vehicle.get("features").and_then(Value::as_array).and_then(|all| all.first()).cloned();
    all.extend(feature.map(|feature| ("features", json!([feature]))));
    all.extend(text("rooftop").map(|name| ("rooftops", json!([name]))));
    all.extend(member("dc_fast_charge").map(|value| ("dc_fast_charge", value)));
    for (lower, upper, name) in [
        ("electric_range_mi_min", "electric_range_mi_max", "electric_range_mi"),
        ("displacement_cc_min", "displacement_cc_max", "displacement_cc"),
        ("year_min", "year_max", "year"),
        ("price_min", "price_max", "price"),
        ("", "mileage_max", "mileage"),
    ] {
        let Some(number) = number(name) else { continue };
        // Filters are whole numbers, whatever the vehicle has.
        if !lower.is_empty() {
            all.push((lower, integer_restored(&json!(number.floor()))));
        }
        all.push((upper, integer_restored(&json!(number.ceil()))));
    }
    for name in ["vin", "stock"] {
        all.extend(text(name).map(|value| (name, value)));
    }
    let words: Vec<_> = ["make", "model"].iter().filter_map(|name| vehicle.get(*name)?.as_str()).collect();
    if !words.is_empty() {
        all.push(("query", words.join(" ").into()));
    }
    all
}
