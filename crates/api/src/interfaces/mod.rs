//! The ways of asking a dealer. Each is a file here and a line in [`INTERFACES`].

pub(crate) mod a2a;
pub(crate) mod ask;
mod card;
pub(crate) mod discovery;
mod http;
pub(crate) mod json_ld;
mod mcp;
mod one_line;
mod page;
pub(crate) mod refused;
mod samples;
mod schemas;
mod vehicles;

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::{HttpRequest, HttpResponse};
use dealer::Dealer;

use crate::address::Target;

/// A request that has been placed.
#[derive(Clone)]
pub(crate) struct Visit<'a> {
    /// As it came.
    pub(crate) request: &'a HttpRequest,
    /// The core.
    pub(crate) dealer: &'a Dealer,
    /// Who is addressed.
    pub(crate) target: Target,
    /// The host that the client believes to talk to, as hosts are compared: no port, lower case.
    pub(crate) host: &'a str,
    /// What stands in the path below the interface, without slashes at its ends; empty where nothing does.
    pub(crate) below: &'a str,
}

/// The future of an answer; requests stay on the thread that accepted them.
pub(crate) type Answering<'a> = Pin<Box<dyn Future<Output = HttpResponse> + 'a>>;

/// One interface, mounted below every dealer's base and every contract's base.
pub(crate) struct Interface {
    /// For logs and counts.
    pub(crate) name: &'static str,
    /// Path below the base; served with and without a trailing slash.
    pub(crate) path: &'static str,
    /// Whether everything below that path belongs to it.
    pub(crate) subtree: bool,
    /// Whether only those are let in whom the dealer lets in. Documents that say how to ask are for everybody.
    pub(crate) guarded: bool,
    /// Answers.
    pub(crate) serve: for<'a> fn(Visit<'a>, Payload) -> Answering<'a>,
}

/// All of them.
pub(crate) static INTERFACES: &[Interface] = &[
    Interface {
        name: "page",
        path: "",
        subtree: false,
        guarded: false,
        serve: |visit, _| Box::pin(page::serve(visit)),
    },
    Interface {
        name: "card",
        path: ".well-known/agent-card.json",
        subtree: false,
        guarded: false,
        serve: |visit, _| Box::pin(card::serve(visit)),
    },
    Interface {
        name: "schemas",
        path: "schemas",
        subtree: true,
        guarded: false,
        serve: |visit, _| Box::pin(schemas::serve(visit)),
    },
    Interface {
        name: "a2a",
        path: "a2a",
        subtree: false,
        guarded: true,
        serve: |visit, payload| Box::pin(a2a::serve(visit, payload)),
    },
    Interface {
        name: mcp::DOOR,
        path: "mcp",
        subtree: false,
        guarded: true,
        serve: |visit, payload| Box::pin(mcp::serve(visit, payload)),
    },
    Interface {
        name: "mcp_manifest",
        path: "mcp.json",
        subtree: false,
        guarded: false,
        serve: |visit, _| Box::pin(mcp::serve_manifest(visit)),
    },
    Interface {
        name: http::DOOR,
        path: http::SKILLS,
        subtree: true,
        guarded: true,
        serve: |visit, payload| Box::pin(http::post(visit, payload)),
    },
    Interface {
        name: http::DOOR,
        path: "dealer",
        subtree: true,
        guarded: true,
        serve: |visit, _| Box::pin(http::get(visit, "dealer")),
    },
    Interface {
        name: http::DOOR,
        path: "facets",
        subtree: true,
        guarded: true,
        serve: |visit, _| Box::pin(http::get(visit, "facets")),
    },
    Interface {
        name: http::DOOR,
        path: "inventory",
        subtree: true,
        guarded: true,
        serve: |visit, _| Box::pin(http::get(visit, "inventory")),
    },
    Interface {
        name: "openapi",
        path: "openapi.json",
        subtree: false,
        guarded: false,
        serve: |visit, _| Box::pin(http::serve(visit, http::Form::Json)),
    },
    Interface {
        name: "openapi",
        path: "openapi.yaml",
        subtree: false,
        guarded: false,
        serve: |visit, _| Box::pin(http::serve(visit, http::Form::Yaml)),
    },
    Interface {
        name: "docs",
        path: "docs",
        subtree: false,
        guarded: false,
        serve: |visit, _| Box::pin(http::serve(visit, http::Form::Html)),
    },
    Interface {
        name: vehicles::DOOR,
        path: "vehicles",
        subtree: true,
        guarded: true,
        serve: |visit, _| Box::pin(vehicles::serve(visit)),
    },
    Interface {
        name: "llms",
        path: "llms.txt",
        subtree: false,
        guarded: false,
        serve: |visit, _| Box::pin(discovery::llms(visit)),
    },
    Interface {
        name: "catalog",
        path: ".well-known/api-catalog",
        subtree: false,
        guarded: false,
        serve: |visit, _| Box::pin(discovery::catalog(visit)),
    },
];

impl Interface {
    /// What of a path below a base is below this interface; `None` where the path is not its own.
    pub(crate) fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = path.strip_prefix(self.path)?;
        if rest.is_empty() {
            return Some(rest);
        }
        // An empty segment names nothing, and least of all the interface itself.
        if self.subtree { rest.strip_prefix('/').filter(|below| !below.is_empty()) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The room that an answer takes while it is made. Nothing is made here.
    fn room<F: Future>(_: impl FnOnce(Visit<'static>, Payload) -> F) -> usize {
        size_of::<F>()
    }

    /// It is allocated and moved with every request. Once it held all that reading a dealer and its lot takes, in
    /// case they have to be read, and moving it was a sixth of a request's time.
    #[test]
    fn what_a_request_carries_along_is_small() {
        let rooms = [
            room(a2a::serve),
            room(mcp::serve),
            room(|visit, _| mcp::serve_manifest(visit)),
            room(|visit, _| card::serve(visit)),
            room(|visit, _| page::serve(visit)),
            room(|visit, _| schemas::serve(visit)),
            room(http::post),
            room(|visit, _| http::get(visit, "inventory")),
            room(|visit, _| http::serve(visit, http::Form::Json)),
            room(|visit, _| vehicles::serve(visit)),
            room(|visit, _| discovery::llms(visit)),
            room(|visit, _| discovery::catalog(visit)),
        ];
        assert!(rooms.iter().all(|room| *room <= 4096), "{rooms:?}");
    }
}
