//! Which code a refused payload gets (AAP.md 6.4).

use serde_json::Value;

use crate::{Fault, FaultCode, SkillId, SkillSpec, Violation};

/// The keyword of consent rules that no schema states.
pub const CONSENT: &str = "x-consent";

/// What a consent has to be given for.
const SCOPE: &str = "lead_submission";

const SALE_WORDS: [&str; 3] = ["new", "used", "cpo"];
const WEAR_WORDS: [&str; 4] = ["excellent", "good", "fair", "poor"];

/// The refusal of a payload with these violations. All of them are listed, whatever the code.
///
/// For leads the consent decides first: none at all, one that does not hold, one that does not cover the channel.
/// Then come conditions of the wrong vocabulary, if nothing else is wrong. Everything else, and every other skill,
/// is [`Fault::validation`]'s to say.
pub fn of(skill: &SkillSpec, payload: &Value, violations: Vec<Violation>) -> Fault {
    if skill.id != SkillId::LeadSubmit || !payload.is_object() {
        return Fault::validation(violations);
    }
    if payload.get("consent").is_none() {
        return Fault::new(
            FaultCode::ContactConsentRequired,
            "Consent is needed before contact details can be taken.",
        )
        .with_detail("missing", "consent")
        .with_detail("expected_scope", SCOPE)
        .with_violations(violations);
    }
    if violations.iter().any(is_below_consent) {
        return Fault::new(
            FaultCode::InvalidConsent,
            "The consent does not hold: it is malformed, of another scope, not yet valid or expired.",
        )
        .with_detail("expected_scope", SCOPE)
        .with_violations(violations);
    }
    if violations.iter().any(|violation| violation.keyword == CONSENT) {
        return Fault::new(
            FaultCode::ContactConsentRequired,
            "The consent covers no channel by which this dealer may get in touch.",
        )
        .with_violations(violations);
    }
    if !violations.is_empty() && violations.iter().all(|violation| is_wrong_vocabulary(violation, payload)) {
        return Fault::new(
            FaultCode::InvalidCondition,
            "A wanted vehicle is new, used or cpo; a trade-in is excellent, good, fair or poor.",
        )
        .with_violations(violations);
    }
    Fault::validation(violations)
}

fn is_below_consent(violation: &Violation) -> bool {
    violation.location.strip_prefix("/consent").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A word that the other vehicle of a lead might have had.
fn is_wrong_vocabulary(violation: &Violation, payload: &Value) -> bool {
    let others: &[&str] = match violation.location.as_str() {
        "/vehicle_of_interest/condition" => &WEAR_WORDS,
        "/trade_in/condition" => &SALE_WORDS,
        _ => return false,
    };
    let word = payload.pointer(&violation.location).and_then(Value::as_str);
    violation.keyword == "enum" && word.is_some_and(|word| others.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lead(payload: &Value, violations: &[(&str, &'static str)]) -> Fault {
        let violations =
            violations.iter().map(|(at, keyword)| Violation::new(*at, keyword, "is wrong")).collect();
        of(SkillId::LeadSubmit.spec(), payload, violations)
    }

    #[test]
    fn consent_decides_before_anything_else() {
        let phone = ("/customer/phone", "pattern");
        let none = lead(&json!({"customer": {}}), &[("/consent", "required"), phone]);
        assert_eq!(none.code, FaultCode::ContactConsentRequired);
        assert_eq!(none.violations.len(), 2);
        let details = none.wire_details().unwrap();
        assert_eq!((&details["missing"], &details["expected_scope"]), (&json!("consent"), &json!(SCOPE)));

        let given = json!({"consent": null, "vehicle_of_interest": {"condition": "good"}});
        for at in ["/consent", "/consent/scope/0", "/consent/granted_at"] {
            let fault = lead(&given, &[(at, "type"), phone, ("/vehicle_of_interest/condition", "enum")]);
            assert_eq!(fault.code, FaultCode::InvalidConsent, "{at}");
            assert_eq!(fault.violations.len(), 3);
        }
        assert_eq!(
            lead(&given, &[("/consents", "additionalProperties")]).code,
            FaultCode::SchemaValidationFailed
        );
        let channel = ("/customer/preferred_contact", CONSENT);
        assert_eq!(lead(&given, &[channel, phone]).code, FaultCode::ContactConsentRequired);
        assert_eq!(lead(&given, &[channel, ("/consent/scope", "type")]).code, FaultCode::InvalidConsent);
    }

    #[test]
    fn conditions_of_the_other_vehicle_have_a_code_where_nothing_else_is_wrong() {
        let swapped = json!({"consent": {}, "vehicle_of_interest": {"condition": "good"}, "trade_in": {"condition": "new"}});
        let both = [("/vehicle_of_interest/condition", "enum"), ("/trade_in/condition", "enum")];
        assert_eq!(lead(&swapped, &both).code, FaultCode::InvalidCondition);
        assert_eq!(lead(&swapped, &both[..1]).code, FaultCode::InvalidCondition);
        let more = [both[0], ("/message", "maxLength")];
        assert_eq!(lead(&swapped, &more).code, FaultCode::SchemaValidationFailed);
        for word in [json!("Used"), json!("mint"), json!(1)] {
            let payload = json!({"consent": {}, "trade_in": {"condition": word}});
            assert_eq!(lead(&payload, &both[1..]).code, FaultCode::SchemaValidationFailed, "{word}");
        }
    }

    #[test]
    fn everything_else_is_as_for_every_skill() {
        let payload = json!({"consent": {}});
        assert_eq!(lead(&payload, &[("/customer", "required")]).code, FaultCode::MissingRequiredField);
        assert_eq!(lead(&payload, &[("/customer", "anyOf")]).code, FaultCode::SchemaValidationFailed);
        let violations = vec![Violation::new("/consent", "additionalProperties", "is not known here")];
        let search = of(SkillId::InventorySearch.spec(), &json!({}), violations);
        assert_eq!(search.code, FaultCode::SchemaValidationFailed);
        assert_eq!(
            of(SkillId::LeadSubmit.spec(), &json!(7), Vec::new()).code,
            FaultCode::SchemaValidationFailed
        );
    }
}
