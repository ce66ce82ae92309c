//! A dealer's base, for people.

use actix_web::{HttpMessage, HttpResponse};

use super::Visit;
use crate::observe::Note;
use crate::pages;

pub(super) async fn serve(visit: Visit<'_>) -> HttpResponse {
    visit.request.extensions_mut().insert(Note { interface: "page", ..Note::default() });
    pages::dealer(visit.request, &visit.target.tenant, visit.target.contract)
}
