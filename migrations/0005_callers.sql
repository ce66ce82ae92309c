-- Who may ask a dealer: bearer keys, and the key sets of issuers whose tokens a dealer takes.

-- As provisioned: {} is a public dealer.
alter table tenants add column callers jsonb not null default '{}';
grant update (callers) on tenants to forecourt_app;

create table caller_keys (
    tenant_id    uuid        not null references tenants (tenant_id) on delete cascade,
    key_id       uuid        not null,
    -- What the dealer calls its caller; free again once the key is revoked.
    name         text        collate "C" not null check (name <> ''),
    -- The part of the key that may be shown, by which it is found.
    prefix       text        collate "C" not null,
    -- SHA-256 of the whole key. It is random and long enough that no slower hash is needed.
    secret_hash  bytea       not null check (octet_length(secret_hash) = 32),
    -- Skill ids; empty means all.
    scopes       text[]      not null default '{}',
    -- {"requests", "per_seconds"}, or null for the dealer's own rule.
    rate_limit   jsonb,
    created_at   timestamptz not null default now(),
    created_by   text        not null,
    -- To about a minute: written in batches.
    last_used_at timestamptz,
    revoked_at   timestamptz,
    primary key (tenant_id, key_id),
    unique (tenant_id, prefix)
);
create unique index caller_keys_name on caller_keys (tenant_id, name) where revoked_at is null;

-- Public keys of issuers, as they were fetched. Of the platform, because dealers may share an issuer.
create table key_sets (
    url        text        collate "C" primary key,
    -- {"keys": […]}; null until it was fetched once.
    document   jsonb,
    -- When `document` was last confirmed, and when somebody last set out to do so.
    fetched_at timestamptz,
    tried_at   timestamptz,
    -- Why the last try failed; null if it did not.
    failure    text
);

alter table caller_keys enable row level security;

create policy tenant   on caller_keys to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on caller_keys to forecourt_platform using (true) with check (true);

grant select, insert                    on caller_keys to forecourt_app;
grant update (revoked_at)               on caller_keys to forecourt_app;
grant select                            on caller_keys to forecourt_platform;
grant update (last_used_at)             on caller_keys to forecourt_platform;
grant select, insert, update            on key_sets    to forecourt_platform;
