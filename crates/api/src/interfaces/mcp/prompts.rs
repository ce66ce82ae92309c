//! Ready-made beginnings for a shopper, which an assistant's user picks.

use contract::SkillId;
use dealer::Tenant;
use rmcp::model::{JsonObject, Prompt, PromptArgument};
use serde_json::Value;

use crate::interfaces::one_line::one_line;

/// One of them.
struct Script {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Name, description, whether it must be given.
    arguments: &'static [(&'static str, &'static str, bool)],
    /// What the dealer must offer for it.
    needs: &'static [SkillId],
    /// The words; `{dealer}` and `{argument}` are filled in, a line with an argument that is not given is left out.
    words: &'static str,
}

static SCRIPTS: &[Script] = &[
    Script {
        name: "find_a_car",
        title: "Find a car",
        description: "Finds vehicles of this dealer that fit a wish, compares them and names what speaks against each.",
        arguments: &[
            ("wish", "What the car is for and what matters, in the shopper's words.", true),
            ("budget", "The most it may cost, in US dollars.", false),
        ],
        needs: &[SkillId::InventoryFacets, SkillId::InventorySearch, SkillId::InventoryVehicle],
        words: "Help me find a car at {dealer}. What I want: {wish}\n\
                I can spend at most {budget} US dollars, fees included.\n\
                First look with aap_inventory_facets at what this dealer has, then search with aap_inventory_search, \
                using only values that occur there. If nothing fits, loosen one condition at a time and tell me \
                which. Read the best three with aap_inventory_vehicle. Compare them in a table with price, fees, \
                mileage and what speaks for and against each, and give the vehicle_id and the link of each if it has \
                one. Say only what the dealer's data says; where it says nothing, say so. Do not send my data to \
                anybody.",
    },
    Script {
        name: "contact_the_dealer",
        title: "Contact the dealer",
        description: "Prepares a request to the dealer about one vehicle and sends it after the shopper has agreed.",
        arguments: &[
            ("vehicle_id", "The vehicle, as search results name it.", true),
            ("visit", "When the shopper would like to come, for instance for a test drive.", false),
        ],
        needs: &[SkillId::DealerInformation, SkillId::InventoryVehicle, SkillId::LeadSubmit],
        words: "I want {dealer} to contact me about the vehicle with vehicle_id {vehicle_id}.\n\
                I would like to come by: {visit}. Check the opening hours with aap_dealer_information.\n\
                Read the vehicle with aap_inventory_vehicle and tell me if it is no longer available. Then ask me for \
                my name and for an email address or a phone number, and by which of email, phone and sms the dealer \
                may contact me. Show me the exact sentence of consent and everything that you are going to send, and \
                wait for my yes. Only then call aap_lead_submit, once, with a new UUID as idempotency_key, and tell \
                me what the dealer answered.",
    },
];

fn offered<'t>(tenant: &'t Tenant) -> impl Iterator<Item = &'static Script> + 't {
    SCRIPTS.iter().filter(|script| script.needs.iter().all(|skill| tenant.skills.contains(skill)))
}

/// Those that a dealer can serve.
pub(super) fn list(tenant: &Tenant) -> Vec<Prompt> {
    let prompts = offered(tenant).map(|script| {
        let arguments = script.arguments.iter().map(|(name, description, required)| {
            PromptArgument::new(*name).with_description(*description).with_required(*required)
        });
        Prompt::new(script.name, Some(script.description), Some(arguments.collect())).with_title(script.title)
    });
    prompts.collect()
}

/// The words of one, and what it does.
///
/// # Errors
/// A sentence about what is wrong with its name or its arguments.
pub(super) fn get(
    tenant: &Tenant,
    name: &str,
    given: Option<&JsonObject>,
) -> Result<(String, &'static str), String> {
    let Some(script) = offered(tenant).find(|script| script.name == name) else {
        return Err("There is no such prompt; prompts/list names those of this dealer.".to_owned());
    };
    let given = |name: &str| {
        let value = given.and_then(|given| given.get(name)).and_then(Value::as_str);
        value.map(str::trim).filter(|value| !value.is_empty())
    };
    if let Some((missing, ..)) =
        script.arguments.iter().find(|(name, _, must)| *must && given(name).is_none())
    {
        return Err(format!("The argument {missing} is needed, as a text."));
    }
    let lines = script.words.lines().filter_map(|line| {
        let mut said = String::new();
        for (at, part) in line.split(['{', '}']).enumerate() {
            // Every second part stood in braces.
            match (at % 2, part) {
                (0, words) => said.push_str(words),
                (_, "dealer") => said.push_str(&one_line(&tenant.name)),
                (_, argument) => said.push_str(given(argument)?),
            }
        }
        Some(said)
    });
    Ok((lines.collect::<Vec<_>>().join("\n"), script.description))
}
