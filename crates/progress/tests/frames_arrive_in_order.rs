//! Frames arrive in order and completely, or the next frame says how many were lost.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use progress::{Account, Detail, Figures, Intervals, RunEvent, Second, Stream, Subscription};
use record::{Interval, Phase, Tally};

fn remark(number: u64) -> RunEvent {
    RunEvent::Remark(number.to_string())
}

/// Returns the frames in a queue, each as the number of frames lost before it and its own number.
fn received(subscription: &Subscription) -> Vec<(u64, u64)> {
    subscription.close();
    std::iter::from_fn(|| subscription.recv())
        .map(|received| (received.missed, received.frame.number))
        .collect()
}

#[test]
fn every_subscriber_receives_every_frame_in_order() {
    let stream = Stream::default();
    let queues = [1, 2].map(|_| stream.subscribe(8, Detail::Figures));
    (0..5).for_each(|number| stream.publish(None, remark(number)));
    for queue in &queues {
        assert_eq!(received(queue), [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]);
    }
}

#[test]
fn full_queue_loses_its_oldest_frames_and_counts_them() {
    let stream = Stream::default();
    let (small, large) = (stream.subscribe(2, Detail::Figures), stream.subscribe(9, Detail::Figures));
    (0..5).for_each(|number| stream.publish(None, remark(number)));
    assert_eq!(received(&small), [(3, 3), (0, 4)]);
    assert_eq!(received(&large).len(), 5, "another queue loses nothing");
}

#[test]
fn lost_frames_are_counted_once() {
    let stream = Stream::default();
    let queue = stream.subscribe(1, Detail::Figures);
    (0..3).for_each(|number| stream.publish(None, remark(number)));
    assert_eq!(queue.recv().map(|received| received.missed), Some(2));
    stream.publish(None, remark(3));
    assert_eq!(queue.recv().map(|received| received.missed), Some(0));
}

#[test]
fn listener_hears_a_frame_before_queues_have_it() {
    let stream = Stream::default();
    let queue = Arc::new(stream.subscribe(8, Detail::Figures));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (seen, behind) = (Arc::clone(&heard), Arc::clone(&queue));
    stream.listen(move |frame| {
        let is_first = behind.recv_timeout(Duration::ZERO) == Err(RecvTimeoutError::Timeout);
        seen.lock().expect("no panic").push((frame.number, is_first));
    });
    stream.publish(None, remark(0));
    assert_eq!(*heard.lock().expect("no panic"), [(0, true)]);
    assert_eq!(received(&queue), [(0, 0)]);
}

#[test]
fn subscriber_to_figures_receives_no_intervals() {
    let interval =
        Interval { second: 3, phase: Phase::Measured, tally: Tally::default(), sampled: Vec::new() };
    let intervals = Intervals::from([(Account::of_step(0), vec![interval])]);
    let figures = Figures {
        elapsed_ns: 4_000_000_000,
        planned_ns: None,
        planned_requests: None,
        is_warm_up: false,
        ended: 1,
        answered: 1,
        p50_ns: None,
        p99_ns: None,
        send_delay_p99_ns: None,
        errors: 0,
        in_flight: 0,
    };
    let stream = Stream::default();
    let queues = [Detail::Intervals, Detail::Figures].map(|detail| stream.subscribe(1, detail));
    stream.publish(None, RunEvent::Second(Second { second: 3, figures: Some(figures), intervals }));
    let seen = queues.map(|queue| match &queue.recv().expect("a frame").frame.event {
        RunEvent::Second(second) => (second.intervals.len(), second.figures),
        other => panic!("{other:?}"),
    });
    assert_eq!(seen, [(1, Some(figures)), (0, Some(figures))]);
}

#[test]
fn end_of_the_stream_reaches_a_waiting_subscriber() {
    let stream = Stream::default();
    let queue = stream.subscribe(8, Detail::Figures);
    let (done, is_done) = mpsc::channel();
    let waiting = thread::spawn(move || {
        let frames = std::iter::from_fn(|| queue.recv()).count();
        done.send(frames).expect("it is received");
    });
    stream.publish(None, remark(0));
    drop(stream);
    assert_eq!(is_done.recv(), Ok(1));
    waiting.join().expect("no panic");
}

#[test]
fn dropped_subscription_takes_no_more_frames() {
    let stream = Stream::default();
    let (kept, dropped) = (stream.subscribe(8, Detail::Figures), stream.subscribe(8, Detail::Figures));
    drop(dropped);
    stream.publish(None, remark(0));
    assert_eq!(received(&kept), [(0, 0)]);
}
