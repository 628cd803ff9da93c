//! Rust's tracing with the fmt layer of tracing-subscriber, one write a line.
//!
//! rust null|file|off: where lines go; "off" shows what is at error only.
//! It serves as peer.h says.
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::time::Instant;
use tracing::{debug_span, info, info_span, Level};

fn keep(i: usize) {
    unsafe { std::ptr::read_volatile(&i) };
}

fn ns_each(count: usize, mut work: impl FnMut(usize)) -> f64 {
    let from = Instant::now();
    for i in 0..count {
        work(i);
    }
    from.elapsed().as_nanos() as f64 / count as f64
}

fn span(count: usize) -> f64 {
    ns_each(count, |i| {
        let _span = debug_span!("span").entered();
        keep(i);
    })
}

fn span_fields(count: usize) -> f64 {
    ns_each(count, |i| {
        let _span = debug_span!("span", index = i, share = 0.5, key = "value").entered();
        keep(i);
    })
}

fn off(count: usize) -> f64 {
    ns_each(count, |i| {
        info!(i, "off");
        keep(i);
    })
}

fn line(i: usize) {
    info!(index = i, share = 0.5, key = "value", "fetched");
}

fn live(count: usize) -> f64 {
    let _outer = info_span!("request").entered();
    let _inner = info_span!("parse").entered();
    ns_each(count, line)
}

fn live_fields(count: usize) -> f64 {
    let _outer = info_span!("request", id = 417).entered();
    let _inner = info_span!("parse", size = 64).entered();
    ns_each(count, line)
}

fn main() {
    let to = std::env::args().nth(1).unwrap_or_default();
    let path = match std::env::var("BENCH_FILE") {
        Ok(path) if to == "file" => path,
        _ => "/dev/null".to_string(),
    };
    let open = || OpenOptions::new().append(true).create(true).open(&path).unwrap();
    let file: File = open();
    let level = if to == "off" { Level::ERROR } else { Level::TRACE };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(open())
        .init();
    for asked in io::stdin().lock().lines() {
        let asked = asked.unwrap();
        let mut words = asked.split_whitespace();
        let name = words.next().unwrap_or("");
        let count = words.next().and_then(|n| n.parse().ok()).unwrap_or(1);
        if to == "file" {
            file.set_len(0).unwrap();
        }
        let ns = match name {
            "span" => span(count),
            "span_fields" => span_fields(count),
            "off" => off(count),
            "live" => live(count),
            "live_fields" => live_fields(count),
            _ => {
                println!("-");
                continue;
            }
        };
        println!("{:.3}", ns);
        io::stdout().flush().unwrap();
    }
}
