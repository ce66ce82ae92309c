-- Tenants and what is published about them.
--
-- Rules that a test reads back from the catalog:
--   * the primary key of every tenant table begins with tenant_id, and no unique or foreign key of one crosses
--     tenants, so that the tables can be distributed by tenant;
--   * platform tables (tenant_slugs, tenant_domains, settings, secrets) are the exception: they answer "whose is
--     this?" before a tenant is known.
-- Every table with a tenant_id has row level security. `forecourt_owner` owns everything and is used by
-- migrations only; `forecourt_app` and `forecourt_platform` own nothing.

-- The tenant of the transaction, or null (which equals nothing) when none was set.
create function current_tenant() returns uuid
    language sql stable parallel safe
    return nullif(current_setting('app.tenant', true), '')::uuid;

create table tenants (
    tenant_id        uuid        primary key,
    slug             text        collate "C" not null,
    dealer_id        text        collate "C" not null,
    name             text        not null,
    welcome_message  text,
    state            text        collate "C" not null default 'active'
                                 check (state in ('active', 'suspended', 'removed')),
    sandbox          boolean     not null default false,
    interface_tenant text        collate "C",
    skills           text[]      not null default '{}',
    contracts        text[]      not null default '{}',
    default_contract text        collate "C" not null,
    policy           jsonb       not null default '{}',
    -- Raised with every change that other processes must learn of.
    revision         bigint      not null default 0,
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now()
);

create table rooftops (
    tenant_id uuid    not null references tenants (tenant_id) on delete cascade,
    position  integer not null check (position >= 0),
    name      text    collate "C" not null,
    -- The public Rooftop object of the contract, as it is answered.
    profile   jsonb   not null,
    holidays  jsonb   not null default '[]',
    primary key (tenant_id, position),
    unique (tenant_id, name)
);

create table cards (
    tenant_id    uuid        not null references tenants (tenant_id) on delete cascade,
    contract     text        collate "C" not null,
    params_id    uuid        not null,
    revision     integer     not null,
    -- SHA-256 of the canonical card without params.id: the id changes exactly when this does.
    content_hash bytea       not null check (octet_length(content_hash) = 32),
    body         text        not null,
    changed_at   timestamptz not null,
    primary key (tenant_id, contract)
);

-- Every card that was ever published; the application may add to it and nothing else.
create table card_revisions (
    tenant_id    uuid        not null references tenants (tenant_id) on delete cascade,
    contract     text        collate "C" not null,
    revision     integer     not null,
    params_id    uuid        not null,
    content_hash bytea       not null check (octet_length(content_hash) = 32),
    body         text        not null,
    cause        text        not null,
    actor        text        not null,
    changed_at   timestamptz not null,
    primary key (tenant_id, contract, revision)
);

-- Platform tables.

create table tenant_slugs (
    slug      text collate "C" primary key,
    tenant_id uuid not null references tenants (tenant_id) on delete cascade
);
create index tenant_slugs_tenant on tenant_slugs (tenant_id);

create table tenant_domains (
    domain    text    collate "C" primary key,
    tenant_id uuid    not null references tenants (tenant_id) on delete cascade,
    -- 0 is the canonical domain of the tenant.
    position  integer not null check (position >= 0)
);
create index tenant_domains_tenant on tenant_domains (tenant_id, position);

create table settings (
    key   text  collate "C" primary key,
    value jsonb not null
);

create table secrets (
    name  text  collate "C" primary key,
    value bytea not null
);

-- The wall.

alter table tenants        enable row level security;
alter table rooftops       enable row level security;
alter table cards          enable row level security;
alter table card_revisions enable row level security;
alter table tenant_slugs   enable row level security;
alter table tenant_domains enable row level security;

create policy tenant   on tenants to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on tenants to forecourt_platform using (true) with check (true);
create policy tenant   on rooftops to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on rooftops to forecourt_platform using (true) with check (true);
create policy tenant   on cards to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on cards to forecourt_platform using (true) with check (true);
create policy tenant   on card_revisions to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on card_revisions to forecourt_platform using (true) with check (true);
create policy tenant   on tenant_slugs to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on tenant_slugs to forecourt_platform using (true) with check (true);
create policy tenant   on tenant_domains to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on tenant_domains to forecourt_platform using (true) with check (true);

revoke all on function current_tenant() from public;
grant usage on schema forecourt to forecourt_app, forecourt_platform;
grant execute on function current_tenant() to forecourt_app, forecourt_platform;

grant select                         on tenants        to forecourt_app;
grant update (dealer_id, name, welcome_message, state, sandbox, interface_tenant, skills, contracts,
              default_contract, policy, revision, updated_at)
                                     on tenants        to forecourt_app;
grant select, insert, update, delete on rooftops       to forecourt_app;
grant select, insert, update, delete on cards          to forecourt_app;
grant select, insert                 on card_revisions to forecourt_app;
grant select                         on tenant_domains to forecourt_app;

grant select, insert                 on tenants        to forecourt_platform;
grant select                         on rooftops, cards, card_revisions to forecourt_platform;
grant select, insert                 on tenant_slugs   to forecourt_platform;
grant select, insert, update, delete on tenant_domains to forecourt_platform;
grant select, insert, update         on settings       to forecourt_platform;
grant select, insert                 on secrets        to forecourt_platform;
