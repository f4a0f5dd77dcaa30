//! The requests of one side that were sent on and wait for their answer.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use crate::id::Id;
use crate::request::{Head, Request};

/// A request that was sent on.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) head: Head,
    /// The request itself, for an interceptor that wants to see the answer.
    pub(super) request: Option<Box<Request>>,
    /// Its own id, if it was sent on under an alias.
    pub(super) original: Option<Id>,
    /// A `tools/list` whose answer is to be edited: true on its first page.
    pub(super) first_page: Option<bool>,
}

/// Open requests by the id they were sent on under.
///
/// Ids need not be unique: clients in the field use `1` for everything. The first request with
/// an id is in `first`, those sent while it was open wait in `doubles` in the order they came.
#[derive(Debug, Default)]
pub(super) struct OpenTable {
    first: HashMap<Id, Open>,
    doubles: VecDeque<(Id, Open)>,
    /// How many carry their request.
    wanted: usize,
    /// How many are `subscriptions/listen`, which are open for as long as the session.
    endless: usize,
}

impl OpenTable {
    pub(super) fn insert(&mut self, id: Id, open: Open) {
        self.wanted += usize::from(open.request.is_some());
        self.endless += usize::from(is_endless(&open));
        match self.first.entry(id) {
            Entry::Occupied(first) => self.doubles.push_back((first.key().clone(), open)),
            Entry::Vacant(place) => {
                place.insert(open);
            }
        }
    }

    /// The request that an answer with this id answers: the same id, else the one open request
    /// whose id equals it as a number.
    pub(super) fn find(&self, id: &Id) -> Option<(&Id, &Open)> {
        if let Some(found) = self.first.get_key_value(id) {
            return Some(found);
        }
        let number = id.number()?;
        let mut equal = self.first.iter().filter(|(open, _)| open.number().as_ref() == Some(&number));
        match (equal.next(), equal.next()) {
            (Some(found), None) => Some(found),
            _ => None,
        }
    }

    pub(super) fn contains(&self, id: &Id) -> bool {
        self.first.contains_key(id)
    }

    /// Takes the request that [`OpenTable::find`] finds. The usual case looks the id up once.
    pub(super) fn take_answered(&mut self, id: &Id) -> Option<Open> {
        if let Some(open) = self.take(id) {
            return Some(open);
        }
        let key = self.find(id)?.0.clone();
        self.take(&key)
    }

    /// Takes the oldest request with exactly this id.
    pub(super) fn take(&mut self, id: &Id) -> Option<Open> {
        let open = self.first.remove(id)?;
        self.count_out(&open);
        if let Some(at) = self.doubles.iter().position(|(double, _)| double == id)
            && let Some((id, next)) = self.doubles.remove(at)
        {
            self.first.insert(id, next);
        }
        Some(open)
    }

    /// The alias that a request with this id of its own was sent on under.
    pub(super) fn alias_of(&self, original: &Id) -> Option<Id> {
        let mut all = self.first.iter();
        all.find(|(_, open)| open.original.as_ref() == Some(original)).map(|(id, _)| id.clone())
    }

    /// Everything, oldest first.
    pub(super) fn drain(&mut self) -> Vec<Open> {
        let mut all: Vec<Open> = self.first.drain().map(|(_, open)| open).collect();
        all.extend(self.doubles.drain(..).map(|(_, open)| open));
        all.sort_by_key(|open| open.head.ticket);
        (self.wanted, self.endless) = (0, 0);
        all
    }

    /// Whether a listing that is to be edited is among them.
    pub(super) fn awaits_listing(&self) -> bool {
        self.first
            .values()
            .chain(self.doubles.iter().map(|(_, open)| open))
            .any(|open| open.first_page.is_some())
    }

    pub(super) fn len(&self) -> usize {
        self.first.len() + self.doubles.len()
    }

    pub(super) fn wanted(&self) -> usize {
        self.wanted
    }

    /// How many answers are still due. A subscription is never answered while it lives.
    pub(super) fn due(&self) -> usize {
        self.len() - self.endless
    }

    fn count_out(&mut self, open: &Open) {
        self.wanted -= usize::from(open.request.is_some());
        self.endless -= usize::from(is_endless(open));
    }
}

fn is_endless(open: &Open) -> bool {
    open.head.method.as_str() == "subscriptions/listen"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Method, Side, Ticket};

    fn id(text: &str) -> Id {
        Id::from_json(text).unwrap()
    }

    fn open(ticket: u64) -> Open {
        let head = Head { ticket: Ticket(ticket), from: Side::Client, id: None, method: Method::new("ping") };
        Open { head, request: None, original: None, first_page: None }
    }

    #[test]
    fn an_exact_id_goes_before_an_equal_number() {
        let mut table = OpenTable::default();
        table.insert(id("5"), open(1));
        table.insert(id(r#""5""#), open(2));
        assert_eq!(table.take_answered(&id(r#""5""#)).unwrap().head.ticket, Ticket(2));
        assert_eq!(table.take_answered(&id(r#"" 5 ""#)).unwrap().head.ticket, Ticket(1));
        assert!(table.take_answered(&id("5")).is_none());
    }

    #[test]
    fn a_number_that_two_requests_share_matches_neither() {
        let mut table = OpenTable::default();
        table.insert(id("5"), open(1));
        table.insert(id("5.0"), open(2));
        assert!(table.take_answered(&id(r#""5""#)).is_none());
    }

    #[test]
    fn doubles_of_an_id_are_answered_in_their_order() {
        let mut table = OpenTable::default();
        for ticket in 1..=3 {
            table.insert(id("1"), open(ticket));
        }
        for ticket in 1..=3 {
            assert_eq!(table.take_answered(&id("1")).unwrap().head.ticket, Ticket(ticket));
        }
        assert_eq!(table.len(), 0);
    }
}
