//! A dealer's base, for people.

use actix_web::HttpResponse;

use super::Visit;
use crate::pages;

pub(super) async fn serve(visit: Visit<'_>) -> HttpResponse {
    pages::dealer(visit.request, &visit.target.tenant, visit.target.contract)
}
