//! The cases of `../shared`, where that folder is laid beside the checkout: what reaches a skill is answered alike.

use std::collections::HashMap;
use std::path::Path;

use contract::{ContractVersion, SKILL_SPECS, SkillId};
use serde_json::{Map, Value, json};
use testkit::Platform;

use super::CLOCK;
use super::doors::{Buyer, Door, Told};
use super::masks::Masks;

const PAYLOAD: &str = "/params/message/parts/0/data";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shared_cases_are_answered_alike_at_every_door() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases");
    let (Some(cases), Some(fixture)) =
        (read(&folder.join("aap-cases.json")), read(&folder.join("aap-fixture.json")))
    else {
        println!("left out: ../shared is not beside this checkout");
        return;
    };
    let mut cases: Vec<Case<'_>> =
        cases.as_array().unwrap().iter().enumerate().filter_map(|(at, case)| Case::read(at, case)).collect();
    let mut documents = Map::new();
    for case in &cases {
        for tenant in case.tenants() {
            for door in Door::WHOLE {
                let mut document = fixture["tenants"][&tenant].clone();
                document.as_object_mut().unwrap().remove("note");
                document["policy"]["clock"] = json!(CLOCK);
                documents.insert(case.slug(&tenant, door), document);
            }
        }
    }
    let platform = Platform::start().await;
    platform.provision(&documents.into()).await;
    let samples = &fixture["tokens"]["values"];
    let mut compared = HashMap::new();
    for case in &mut cases {
        *compared.entry(case.compare(&platform, samples).await).or_insert(0) += 1;
    }
    println!("{compared:?}");
    assert!(compared["answer"] > 60 && compared["refusal"] > 60, "{compared:?}");
    platform.stop().await;
}

fn read(file: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(file).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

struct Case<'c> {
    case: &'c Value,
    id: &'c str,
    contract: ContractVersion,
    number: usize,
    /// Whether something of it stays: then each door has dealers of its own, that nobody asked before.
    stays: bool,
}

impl<'c> Case<'c> {
    /// `None` for one that is about the envelope of A2A: no bytes of JSON, or no payload.
    fn read(number: usize, case: &'c Value) -> Option<Case<'c>> {
        case["body"].pointer(PAYLOAD)?;
        let text = case.to_string();
        let stays = case.get("before").is_some() || text.contains("lead.submit") || case["tenant"] == "quota";
        let contract = case["contract"].as_str()?.parse().ok()?;
        Some(Case { case, id: case["id"].as_str()?, contract, number, stays })
    }

    fn tenants(&self) -> Vec<String> {
        let name = |call: &Value| call["tenant"].as_str().unwrap_or("harbor").to_owned();
        let mut all = vec![name(self.case)];
        all.extend(self.before().iter().filter(|call| call.get("tenant").is_some()).map(name));
        all.dedup();
        all
    }

    fn before(&self) -> &'c [Value] {
        self.case["before"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    fn slug(&self, tenant: &str, door: Door) -> String {
        match self.stays {
            true => format!("{tenant}-{}-{}", self.number, door.recorded()),
            false => tenant.to_owned(),
        }
    }

    /// Asks at every door; what kind of answer it was.
    async fn compare(&self, platform: &Platform, samples: &Value) -> &'static str {
        let mut said: Vec<(Door, String)> = Vec::new();
        for door in Door::ALL {
            let mut masks = Masks::default();
            let mut tokens: HashMap<String, String> = HashMap::new();
            let mut all = String::new();
            let calls = self.before().iter().chain([self.case]);
            // GET comes after POST to the same dealers, which is no first call to one that counts or keeps.
            if door == Door::Get && self.stays {
                continue;
            }
            for call in calls {
                let own = self.case["tenant"].as_str().unwrap_or("harbor");
                let slug = self.slug(call["tenant"].as_str().unwrap_or(own), door);
                let call = self.filled(call, samples, &tokens);
                let buyer = Buyer::new(platform, &slug, self.contract);
                let told = match door {
                    Door::A2a => Some(a2a(&buyer, &call).await),
                    _ => self.other(&buyer, door, call["body"].pointer(PAYLOAD).unwrap()).await,
                };
                let Some(told) = told else { break };
                if let (Told::Protocol(_), Door::A2a) = (&told, door) {
                    return "of A2A alone";
                }
                if let Told::Answer(payload) = &told {
                    for (name, place) in call["capture"].as_object().into_iter().flatten() {
                        let place = place.as_str().unwrap();
                        let place = place.strip_prefix("/result/message/parts/0/data").unwrap();
                        let value = payload.pointer(place).and_then(Value::as_str).unwrap();
                        tokens.insert(name.clone(), value.to_owned());
                    }
                }
                all = format!("{all}{}\n", masks.settled(told));
            }
            if !all.is_empty() {
                said.push((door, all));
            }
        }
        let expected = said[0].1.clone();
        assert!(said.len() > 1, "{}: only {said:?}", self.id);
        for (door, words) in said {
            assert!(words == expected, "{}\nA2a: {expected}\n{door:?}: {words}", self.id);
        }
        match expected.trim_end().rsplit('\n').next().unwrap().split(' ').next() {
            Some("answer") => "answer",
            _ => "refusal",
        }
    }

    /// At a door that is not A2A: the skill is named by the door, and for one that nobody knows any will do.
    async fn other(&self, buyer: &Buyer<'_>, door: Door, payload: &Value) -> Option<Told> {
        let skill = SKILL_SPECS.iter().find(|skill| payload["type"] == skill.request_type);
        buyer.ask(door, skill.copied().unwrap_or(SkillId::DealerInformation.spec()), payload).await
    }

    /// The call with the values of its tokens.
    fn filled(&self, call: &Value, samples: &Value, captured: &HashMap<String, String>) -> Value {
        let mut text = call.to_string();
        for (name, token) in samples.as_object().unwrap() {
            let sample = token["sample"].as_str().or(token["sample"][self.contract.as_str()].as_str());
            let value = captured.get(name).map(String::as_str).or(sample).unwrap_or_default();
            text = text.replace(&format!("${{{name}}}"), value);
        }
        serde_json::from_str(&text).unwrap()
    }
}

async fn a2a(buyer: &Buyer<'_>, call: &Value) -> Told {
    let query = call["query"].as_str().map(|query| format!("?{query}")).unwrap_or_default();
    let url = format!("{}{}/a2a{query}", buyer.platform.base(buyer.slug), buyer.contract);
    let mut request = buyer.platform.http.post(url).body(call["body"].to_string());
    for (name, value) in call["headers"].as_object().unwrap() {
        request = request.header(name, value.as_str().unwrap());
    }
    Buyer::of_a2a(request.send().await.unwrap()).await
}
