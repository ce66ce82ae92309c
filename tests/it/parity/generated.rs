//! Requests that nobody thought of: right ones and wrong ones, of every skill, in every contract, leads among them.

use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use contract::{CONTRACTS, ContractVersion, SKILL_SPECS, SkillId, SkillSpec};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value, json};
use testkit::{Platform, cluster, soak};

use super::CLOCK;
use super::doors::{Buyer, Door, Told};
use super::masks::Masks;
use crate::oracle::lots::{self, Lot};
use crate::oracle::questions::Question;

const SEED: u64 = 0x5a3e_d002;
const AT_ONCE: usize = 4;

/// What was compared.
#[derive(Debug, Default)]
struct Tally {
    requests: usize,
    answers: usize,
    refusals: usize,
    gets: usize,
    leads: usize,
    later_pages: usize,
    of_one_door: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.requests += other.requests;
        self.answers += other.answers;
        self.refusals += other.refusals;
        self.gets += other.gets;
        self.leads += other.leads;
        self.later_pages += other.later_pages;
        self.of_one_door += other.of_one_door;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_requests_are_answered_alike_at_every_door() {
    let platform = Arc::new(Platform::start().await);
    let mut random = StdRng::seed_from_u64(SEED);
    let mut documents = lots::documents(&platform.origin, &mut random);
    let mut picky = documents["crowd"].clone();
    picky["skills"] = json!(["dealer.information", "inventory.search", "inventory.vehicle"]);
    picky["policy"]["search"] = json!({"filters": ["make", "features", "status", "price_max"],
        "sort_fields": ["price", "year"], "feature_codes": ["ABS", "Tow hitch"]});
    documents["picky"] = picky;
    let policies =
        [json!({}), json!({"appointments": "strict"}), json!({"appointments": "manual"}), json!({})];
    for (asker, policy) in policies.iter().enumerate() {
        for door in Door::WHOLE {
            let mut twin = crate::leads::dealer(policy.clone());
            twin["policy"]["clock"] = json!(CLOCK);
            documents[twin_of(asker, door)] = twin;
        }
    }
    platform.provision(&documents).await;
    let mut admin = cluster().superuser(&platform.database).await;
    let mut lots = lots::stored(&mut admin).await;
    lots.retain(|lot| !lot.slug.starts_with("twin-"));
    let lots = Arc::new(lots);

    let began = Instant::now();
    let requests = soak(2_000);
    let mut askers = Vec::new();
    for number in 0..AT_ONCE {
        let mut asker = Asker {
            platform: Arc::clone(&platform),
            lots: Arc::clone(&lots),
            random: StdRng::seed_from_u64(SEED + 1 + number as u64),
            number,
            masks: Default::default(),
            tally: Tally::default(),
        };
        askers.push(tokio::spawn(async move {
            while asker.tally.requests < requests / AT_ONCE {
                asker.ask_once().await;
            }
            asker.tally
        }));
    }
    let mut tally = Tally::default();
    for asker in askers {
        tally.add(&asker.await.expect("every door says the same"));
    }
    println!("{tally:?} compared in {:?}", began.elapsed());
    // Requests that are all refused, or all answered, would show little.
    assert!(tally.requests >= requests);
    assert!(tally.answers > requests / 3 && tally.refusals > requests / 5, "{tally:?}");
    assert!(tally.gets > requests / 4 && tally.leads > requests / 10, "{tally:?}");
    assert!(tally.later_pages > requests / 60 && tally.of_one_door < requests / 10, "{tally:?}");
    if let Ok(platform) = Arc::try_unwrap(platform) {
        platform.stop().await;
    }
}

fn twin_of(asker: usize, door: Door) -> String {
    format!("twin-{asker}-{}", door.recorded())
}

struct Asker {
    platform: Arc<Platform>,
    lots: Arc<Vec<Lot>>,
    random: StdRng,
    number: usize,
    masks: [Masks; Door::ALL.len()],
    tally: Tally,
}

impl Asker {
    async fn ask_once(&mut self) {
        let lots = Arc::clone(&self.lots);
        let random = &mut self.random;
        let contract = CONTRACTS.choose(random).expect("contracts").version;
        let lot = lots.choose_weighted(random, |lot| 1 + lot.vehicles.len().min(100)).expect("lots");
        let (skill, mut payload) = question(contract, lot, random);
        if random.random_ratio(1, 4) {
            fuzz_targets::spoil(contract, &mut payload, &bytes(random));
        }
        settle_type(skill, &mut payload, random);
        let told = self.compare(contract, &lot.slug, skill, &payload).await;
        // A cursor that one door gave is good at all.
        if let Some(Told::Answer(page)) = told
            && let Some(cursor) = page["data"]["next_cursor"].as_str()
            && payload.is_object()
        {
            payload["pagination"]["cursor"] = cursor.into();
            self.tally.later_pages += 1;
            self.compare(contract, &lot.slug, skill, &payload).await;
        }
    }

    /// Asks every door the same; what A2A said.
    async fn compare(
        &mut self,
        contract: ContractVersion,
        slug: &str,
        skill: &'static SkillSpec,
        payload: &Value,
    ) -> Option<Told> {
        let mut said: Vec<(Door, String)> = Vec::new();
        let mut first = None;
        for door in Door::ALL {
            // Each door has a dealer of its own for leads, since the second of two is another one's duplicate.
            let twin = twin_of(self.number, door);
            let slug = if skill.id == SkillId::LeadSubmit && slug != "picky" { &twin } else { slug };
            let Some(told) = Buyer::new(&self.platform, slug, contract).ask(door, skill, payload).await
            else {
                continue;
            };
            if let Told::Protocol(error) = &told {
                assert!(
                    door == Door::A2a && payload["type"] != skill.request_type,
                    "{door:?} {payload} {error}"
                );
                self.tally.of_one_door += 1;
                continue;
            }
            first.get_or_insert_with(|| told.clone());
            said.push((door, self.masks[door as usize].settled(told)));
        }
        let (_, expected) = said.first()?;
        for (door, words) in &said {
            assert!(
                words == expected,
                "asker {}, seed {SEED:#x}: {slug} {contract} {}: {payload}\n{:?}: {expected}\n{door:?}: {words}",
                self.number,
                skill.id,
                said[0].0
            );
        }
        self.tally.requests += 1;
        match expected.starts_with("answer") {
            true => self.tally.answers += 1,
            false => self.tally.refusals += 1,
        }
        self.tally.gets += usize::from(said.iter().any(|(door, _)| *door == Door::Get));
        self.tally.leads += usize::from(skill.id == SkillId::LeadSubmit);
        first
    }
}

/// With a `type` that is the skill's, that nobody knows, or none. That of another skill asks another one at A2A.
fn settle_type(skill: &SkillSpec, payload: &mut Value, random: &mut StdRng) {
    let Some(members) = payload.as_object_mut() else { return };
    let others =
        SKILL_SPECS.iter().any(|other| members.get("type").is_some_and(|t| *t == other.request_type));
    if others || random.random_ratio(4, 5) {
        members.insert("type".into(), skill.request_type.into());
    }
    if random.random_ratio(1, 5) {
        members.remove("type");
    }
}

fn bytes(random: &mut StdRng) -> Vec<u8> {
    (0..400).map(|_| random.random_range(0..=u8::MAX)).collect()
}

fn question(contract: ContractVersion, lot: &Lot, random: &mut StdRng) -> (&'static SkillSpec, Value) {
    let cursors = contract == ContractVersion::V3_0;
    match random.random_range(0..20) {
        0..6 => {
            let question = Question::random(lot, random);
            let limit = question.limit(random, false);
            let mut request = question.request(limit, None);
            if !cursors && random.random_bool(0.4) {
                request["pagination"]["skip"] = random.random_range(0..12).into();
            }
            (SkillId::InventorySearch.spec(), request)
        }
        6..9 => {
            let mut request = Question::random(lot, random).request(None, None);
            request.as_object_mut().unwrap().remove("sort");
            request["type"] = json!("inventory.facets.request");
            (SkillId::InventoryFacets.spec(), request)
        }
        9..12 => {
            let names: &[&str] =
                [&["vehicle_id"][..], &["vin"], &["stock"], &["stock", "vin"]].choose(random).unwrap();
            let unit = lot.vehicles.values().nth(random.random_range(0..lot.vehicles.len().max(1)));
            let mut request = json!({"type": "inventory.vehicle.request"});
            for name in names {
                let known = unit.and_then(|unit| unit.get(*name)).filter(|_| random.random_ratio(7, 8));
                request[*name] = known.cloned().unwrap_or_else(|| json!("a/b c%é?"));
            }
            (SkillId::InventoryVehicle.spec(), request)
        }
        12 => (SkillId::DealerInformation.spec(), json!({"type": "dealer.information.request"})),
        13..16 => {
            let skill = SKILL_SPECS.choose(random).unwrap();
            (skill, fuzz_targets::payload(contract, skill, &bytes(random)))
        }
        _ => (SkillId::LeadSubmit.spec(), lead(random)),
    }
}

/// A lead of one of few shoppers about one of few vehicles: often a copy, a duplicate or a conflict of another.
fn lead(random: &mut StdRng) -> Value {
    let clock: DateTime<Utc> = CLOCK.parse().unwrap();
    let at = |minutes: i64| (clock + Duration::minutes(minutes)).to_rfc3339_opts(SecondsFormat::Secs, true);
    let shopper = random.random_range(0..8);
    let mut customer = json!({"first_name": "Noor", "last_name": format!("Haddad {shopper}")});
    if random.random_ratio(3, 4) {
        customer["email"] = json!(format!("noor.{shopper}@mail.example"));
    }
    if random.random_ratio(2, 4) {
        customer["phone"] = json!(format!("+1503555018{shopper}"));
    }
    let channels: Vec<&str> =
        ["email", "phone", "sms"].into_iter().filter(|_| random.random_ratio(3, 4)).collect();
    let granted = *[-60, -60, -60, -1, 4, 6, -400_000].choose(random).unwrap();
    let mut lead = Map::new();
    lead.insert("type".into(), json!("lead.submit.request"));
    lead.insert("customer".into(), customer);
    let agent = *["pelican", "heron"].choose(random).unwrap();
    lead.insert("source_agent".into(), json!({"name": agent}));
    let consent = json!({"granted_at": at(granted), "allowed_channels": channels,
        "consent_text": "Harbor may write to me.", "scope": ["lead_submission"]});
    lead.insert("consent".into(), consent);
    if random.random_ratio(2, 3) {
        let vehicles = [
            json!({"stock": "S-a"}),
            json!({"vehicle_id": "bike"}),
            json!({"stock": "S-gone"}),
            json!({"stock": "none"}),
            json!({"year": 2023, "make": "Honda"}),
        ];
        lead.insert("vehicle_of_interest".into(), vehicles.choose(random).unwrap().clone());
    }
    if random.random_ratio(1, 2) {
        let kind = ["sales", "test_drive", "service", "phone_call"].choose(random).unwrap();
        let minutes = 30 * random.random_range(-10..48 * 70) + [0, 0, 7].choose(random).unwrap();
        lead.insert("appointment".into(), json!({"appointment_type": kind, "appointment_at": at(minutes)}));
    }
    if random.random_ratio(1, 3) {
        lead.insert("message".into(), (*["Is it still there?", "Süß 🚗"].choose(random).unwrap()).into());
    }
    if random.random_ratio(1, 2) {
        // Few keys, and few leads that may have them: the same again, and others with the same key.
        let key = random.random_range(0..12);
        lead.insert("idempotency_key".into(), json!(format!("key-{key}")));
        if random.random_ratio(1, 2) {
            let mut same = StdRng::seed_from_u64(key);
            lead.remove("vehicle_of_interest");
            lead.remove("appointment");
            lead.remove("message");
            lead["customer"] = json!({"first_name": "Same", "last_name": "Again",
                "email": format!("same.{}@mail.example", same.random_range(0..6))});
            lead["source_agent"] = json!({"name": "pelican"});
            lead["consent"] = json!({"granted_at": at(-60), "allowed_channels": ["email"],
                "consent_text": "Yes.", "scope": ["lead_submission"]});
        }
    }
    lead.into()
}
