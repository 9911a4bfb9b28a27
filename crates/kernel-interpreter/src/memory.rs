//! Memory that invocations share, with the last accesses to each word. Two accesses by two invocations without a barrier between them are
//! a data race if one of them is a write, in either order.

use crate::error::{Error, Use};

/// Identifies an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    pub workgroup: u32,
    /// Index in the workgroup.
    pub lane: u32,
}

/// A variable in a storage buffer, in the uniform buffer or in workgroup memory.
pub struct Shared {
    pub name: String,
    pub words: Vec<u32>,
    pub is_workgroup: bool,
    /// Accesses to each word. Empty if the kernel cannot write to the variable.
    uses: Vec<Uses>,
    /// Number of barriers so far that order accesses to this variable.
    epoch: u32,
}

/// The last accesses to one word.
#[derive(Clone, Copy, Default)]
struct Uses {
    write: Option<Last>,
    read: Option<Last>,
    /// Whether a workgroup other than that of `read` has read the word.
    read_by_others: bool,
}

/// The last access of one kind.
#[derive(Clone, Copy)]
struct Last {
    workgroup: u32,
    epoch: u32,
    /// `None` if several invocations accessed the word since the last barrier.
    lane: Option<u32>,
    /// Whether all writes since the last barrier were atomic additions.
    adds: bool,
}

impl Last {
    /// Whether this access and an access by `who` now come from different invocations without a barrier between them.
    fn conflicts(self, who: Who, epoch: u32) -> bool {
        // Barriers do not order workgroups.
        self.workgroup != who.workgroup || self.epoch == epoch && self.lane != Some(who.lane)
    }
}

impl Shared {
    pub fn new(name: &str, words: Vec<u32>, is_workgroup: bool, is_written: bool) -> Self {
        let uses = if is_written { vec![Uses::default(); words.len()] } else { Vec::new() };
        Self { name: name.to_owned(), words, is_workgroup, uses, epoch: 0 }
    }

    /// Records a barrier for this variable.
    pub fn pass_barrier(&mut self) {
        self.epoch += 1;
    }

    /// Starts another workgroup, whose workgroup memory is not written yet.
    pub fn start_workgroup(&mut self) {
        if self.is_workgroup {
            self.uses.fill(Uses::default());
        }
    }

    pub fn read(&mut self, at: usize, to: &mut [u32], who: Who, line: u32) -> Result<(), Error> {
        if !self.uses.is_empty() {
            for word in at..at + to.len() {
                self.note_read(word, who, line)?;
            }
        }
        to.copy_from_slice(&self.words[at..at + to.len()]);
        Ok(())
    }

    pub fn write(&mut self, at: usize, from: &[u32], who: Who, line: u32) -> Result<(), Error> {
        for word in at..at + from.len() {
            self.note_write(word, who, line)?;
        }
        self.words[at..at + from.len()].copy_from_slice(from);
        Ok(())
    }

    /// Atomic addition. Returns the old value. Additions do not race with each other, because their order does not matter.
    pub fn add(&mut self, at: usize, value: u32, who: Who, line: u32) -> Result<u32, Error> {
        self.note_add(at, who, line)?;
        let before = self.words[at];
        self.words[at] = before.wrapping_add(value);
        Ok(before)
    }

    fn note_read(&mut self, word: usize, who: Who, line: u32) -> Result<(), Error> {
        let (epoch, uses) = (self.epoch, &mut self.uses[word]);
        match uses.write {
            Some(write) if write.conflicts(who, epoch) => return Err(self.race(word, Use::Write, Use::Read, line)),
            None if self.is_workgroup => return Err(Error::Uninitialized { variable: self.name.clone(), word, line }),
            _ => {}
        }
        let mut lane = Some(who.lane);
        if let Some(read) = uses.read {
            uses.read_by_others |= read.workgroup != who.workgroup;
            if read.conflicts(who, epoch) && read.workgroup == who.workgroup {
                lane = None;
            }
        }
        uses.read = Some(Last { workgroup: who.workgroup, epoch, lane, adds: false });
        Ok(())
    }

    fn note_write(&mut self, word: usize, who: Who, line: u32) -> Result<(), Error> {
        let uses = &mut self.uses[word];
        let conflicts = |last: Option<Last>| last.is_some_and(|last| last.conflicts(who, self.epoch));
        if conflicts(uses.write) {
            return Err(self.race(word, Use::Write, Use::Write, line));
        }
        if uses.read_by_others || conflicts(uses.read) {
            return Err(self.race(word, Use::Read, Use::Write, line));
        }
        uses.write = Some(Last { workgroup: who.workgroup, epoch: self.epoch, lane: Some(who.lane), adds: false });
        Ok(())
    }

    fn note_add(&mut self, word: usize, who: Who, line: u32) -> Result<(), Error> {
        let (epoch, uses) = (self.epoch, self.uses[word]);
        if uses.write.is_none() && self.is_workgroup {
            return Err(Error::Uninitialized { variable: self.name.clone(), word, line });
        }
        if uses.write.is_some_and(|write| !write.adds && write.conflicts(who, epoch)) {
            return Err(self.race(word, Use::Write, Use::Write, line));
        }
        if uses.read_by_others || uses.read.is_some_and(|read| read.conflicts(who, epoch)) {
            return Err(self.race(word, Use::Read, Use::Write, line));
        }
        let (mut lane, mut adds) = (Some(who.lane), true);
        if let Some(write) = uses.write.filter(|write| write.workgroup == who.workgroup && write.epoch == epoch) {
            (lane, adds) = (lane.filter(|_| write.lane == lane), write.adds);
        }
        self.uses[word].write = Some(Last { workgroup: who.workgroup, epoch, lane, adds });
        Ok(())
    }

    fn race(&self, word: usize, first: Use, second: Use, line: u32) -> Error {
        Error::Race { variable: self.name.clone(), word, first, second, line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Who = Who { workgroup: 0, lane: 0 };
    const B: Who = Who { workgroup: 0, lane: 1 };
    const C: Who = Who { workgroup: 0, lane: 2 };
    const FAR: Who = Who { workgroup: 1, lane: 0 };

    /// Whether these accesses to one word of a storage buffer are a race. `None` is a barrier.
    fn races(uses: &[Option<(Who, Use)>]) -> bool {
        let mut shared = Shared::new("x", vec![0], false, true);
        uses.iter().any(|each| match each {
            None => {
                shared.pass_barrier();
                false
            }
            Some((who, Use::Read)) => shared.read(0, &mut [0], *who, 1).is_err(),
            Some((who, Use::Write)) => shared.write(0, &[7], *who, 1).is_err(),
        })
    }

    const fn read(who: Who) -> Option<(Who, Use)> {
        Some((who, Use::Read))
    }

    const fn write(who: Who) -> Option<(Who, Use)> {
        Some((who, Use::Write))
    }

    #[test]
    fn write_races_with_other_invocations() {
        for uses in [[write(A), read(B)], [read(A), write(B)], [write(A), write(B)]] {
            assert!(races(&uses) && !races(&[uses[0], None, uses[1]]), "{uses:?}");
        }
        assert!(!races(&[read(A), read(B)]) && !races(&[read(A), write(A), read(A), write(A)]));
    }

    #[test]
    fn earlier_readers_are_remembered() {
        assert!(races(&[read(A), read(B), write(B)]) && races(&[read(A), read(B), write(C)]));
        assert!(races(&[read(A), read(B), read(A), write(A)]));
        assert!(!races(&[read(A), read(B), None, write(B), None, read(A)]));
    }

    #[test]
    fn barriers_do_not_order_workgroups() {
        assert!(races(&[write(A), None, read(FAR)]) && races(&[read(A), None, write(FAR)]));
        assert!(races(&[read(A), None, read(FAR), read(FAR), None, write(FAR)]));
        assert!(!races(&[read(A), read(FAR)]));
    }

    #[test]
    fn workgroup_memory_is_uninitialized() {
        let mut shared = Shared::new("tile", vec![0; 2], true, true);
        shared.write(0, &[1], A, 1).unwrap();
        assert_eq!(shared.read(0, &mut [0], A, 2), Ok(()));
        assert!(matches!(shared.read(1, &mut [0], A, 3), Err(Error::Uninitialized { word: 1, line: 3, .. })));
        shared.start_workgroup();
        assert!(shared.read(0, &mut [0], FAR, 4).is_err());
    }
}
