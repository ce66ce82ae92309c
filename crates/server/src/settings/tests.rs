use super::*;

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn address(flags: AddressFlags) -> Flags {
    Flags { address: flags, ..Flags::default() }
}

fn messages(flags: &Flags) -> Vec<String> {
    Settings::check(flags).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn an_empty_environment_means_the_defaults() {
    let empty = Some(String::new());
    let flags = Flags {
        common: CommonFlags {
            database_url: empty.clone(),
            data_dir: empty.clone(),
            ..CommonFlags::default()
        },
        address: AddressFlags { public_origin: empty.clone(), tls_key: empty, ..AddressFlags::default() },
        ..Flags::default()
    };
    let settings = Settings::check(&flags).unwrap();
    assert_eq!(settings.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(settings.data_dir, PathBuf::from(".data"));
    assert!(settings.database_url.is_none() && settings.tls.is_none());
    assert_eq!(settings.origin(settings.listen).unwrap().as_str(), "http://127.0.0.1:8080");
}

#[test]
fn every_problem_is_named_at_once_with_flag_and_variable() {
    let flags = Flags {
        common: CommonFlags {
            data_dir: some("Cargo.toml"),
            database_url: some("mysql://root:hunter2@db/x"),
            max_connections: some("0"),
            log: some("info,=,"),
            log_format: some("xml"),
        },
        address: AddressFlags {
            listen: some("8080"),
            public_origin: some("http://dealers.example"),
            platform_domain: some("https://dealers.example"),
            serve_draft: some("perhaps"),
            tls_cert: some("no/such/file.pem"),
            tls_key: None,
        },
        serving: ServingFlags {
            trusted_proxies: some("proxy"),
            workers: some("many"),
            cache_mb: some("1"),
            warm_up: some("long"),
            max_age: some("soon"),
            drain_seconds: some("-1"),
        },
        worker: WorkerFlags {
            worker_slots: some("0"),
            worker_fetches: some("all"),
            worker_lease: some("1ms"),
            feed_folder: some("Cargo.toml"),
            feed_settle: some("0"),
            feed_allow: some("http://feeds.internal"),
        },
        vault: VaultFlags {
            master_key: some("hunter2"),
            master_key_file: some("no/such/master.key"),
            master_key_old: some("hunter2,hunter2"),
        },
    };
    let messages = messages(&flags);
    let text = messages.join("\n");
    // All variables of ours but the certificate's key, which is missing and is named for that; and DATABASE_URL.
    for variable in VARIABLES.iter().chain(["DATABASE_URL"].iter()) {
        assert!(text.contains(variable), "{variable} is not named in\n{text}");
    }
    assert_eq!(messages.len(), 26, "{text}");
    assert!(messages.iter().all(|message| message.starts_with("--")), "{text}");
    assert!(!text.contains("hunter2"), "a password was shown:\n{text}");
}

#[test]
fn the_database_password_is_never_shown() {
    let flags = Flags {
        common: CommonFlags { database_url: some("postgres://u:hunter2@db/x"), ..CommonFlags::default() },
        ..Flags::default()
    };
    let settings = Settings::check(&flags).unwrap();
    assert!(!format!("{settings:?}").contains("hunter2"));
    assert_eq!(settings.database_url.unwrap().reveal(), "postgres://u:hunter2@db/x");
}

#[test]
fn a_public_origin_is_https_or_on_loopback_and_has_no_path() {
    let with =
        |origin: &str| address(AddressFlags { public_origin: some(origin), ..AddressFlags::default() });
    for good in [
        "https://dealers.example",
        "https://dealers.example:8443/",
        "http://localhost:8080",
        "http://[::1]:1",
    ] {
        assert!(Settings::check(&with(good)).is_ok(), "{good}");
    }
    for bad in [
        "http://dealers.example",
        "http://10.0.0.1:8080",
        "https://dealers.example/app",
        "https://dealers.example/?a=b",
        "https://me:secret@dealers.example",
        "dealers.example",
    ] {
        let messages = messages(&with(bad));
        assert_eq!(messages.len(), 1, "{bad}");
        assert!(messages[0].starts_with("--public-origin (FORECOURT_PUBLIC_ORIGIN) "), "{messages:?}");
        assert!(!messages[0].contains("secret"), "{messages:?}");
    }
}

#[test]
fn the_origin_follows_the_bound_port_and_never_leaves_loopback_unprotected() {
    let listen = |text: &str| address(AddressFlags { listen: some(text), ..AddressFlags::default() });
    let settings = Settings::check(&listen("0.0.0.0:0")).unwrap();
    let bound = "0.0.0.0:4711".parse().unwrap();
    assert_eq!(settings.origin(bound).unwrap().as_str(), "http://127.0.0.1:4711");
    let settings = Settings::check(&listen("[::]:80")).unwrap();
    assert_eq!(settings.origin(settings.listen).unwrap().as_str(), "http://127.0.0.1");

    let messages = messages(&listen("192.168.1.5:8080"));
    assert_eq!(messages.len(), 1);
    assert!(messages[0].starts_with("--public-origin (FORECOURT_PUBLIC_ORIGIN) is missing"), "{messages:?}");
}

#[test]
fn a_platform_domain_off_this_machine_needs_https() {
    let with = |domain: &str, origin: Option<&str>| {
        address(AddressFlags {
            platform_domain: some(domain),
            public_origin: origin.map(str::to_owned),
            ..AddressFlags::default()
        })
    };
    assert!(Settings::check(&with("dealers.example", Some("https://dealers.example"))).is_ok());
    assert!(Settings::check(&with("localhost", None)).is_ok());
    let messages = messages(&with("dealers.example", None));
    assert!(messages[0].starts_with("--platform-domain (FORECOURT_PLATFORM_DOMAIN) needs"), "{messages:?}");
}
