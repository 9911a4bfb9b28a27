//! Runs a kernel workgroup by workgroup. The invocations of a workgroup run one by one up to the next barrier, in shuffled order.

use crate::arithmetic::Arithmetic;
use crate::code::{Code, Input, Length, Op, Operand, Place, Space};
use crate::error::Error;
use crate::memory::{Shared, Who};

/// Maximum number of operations of one invocation. More count as an endless loop.
const MAX_STEPS: usize = 1 << 26;

/// A load or store of consecutive words in a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Line of the WGSL.
    pub line: u32,
    /// Index of the operation in the compiled kernel. One line may have several.
    pub operation: usize,
    /// Number of times that this invocation executed the operation before.
    pub round: usize,
    /// Index of the workgroup; x counts fastest.
    pub workgroup: u32,
    /// Index of the invocation in its workgroup.
    pub lane: u32,
    /// Binding in group 0.
    pub binding: usize,
    /// Index of the first 32-bit word in the binding.
    pub word: usize,
    /// Number of words.
    pub n: usize,
    /// Whether the words are written. Atomic additions are writes.
    pub is_write: bool,
}

pub struct Machine<'a> {
    pub code: &'a Code,
    pub arithmetic: Arithmetic,
    pub shared: Vec<Shared>,
    /// Every access to a binding, if accesses are traced.
    pub accesses: Option<Vec<Access>>,
    pub shuffle: Shuffle,
}

/// One invocation.
struct Lane {
    who: Who,
    words: Vec<u32>,
    /// Index of the next operation.
    next: usize,
    steps: usize,
    /// Number of executions of each operation, if accesses are traced.
    rounds: Vec<usize>,
}

/// Why an invocation stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// At the barrier with this operation index.
    Barrier(usize),
    End,
}

/// Pseudorandom orders (xorshift64, Marsaglia 2003).
pub struct Shuffle(u64);

impl Shuffle {
    pub fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|i| order.swap(i, (self.next() % (i as u64 + 1)) as usize));
        order
    }
}

impl Machine<'_> {
    pub fn run(&mut self, workgroups: [u32; 3]) -> Result<(), Error> {
        let n = workgroups.iter().product::<u32>() as usize;
        for workgroup in self.shuffle.order(n) {
            self.shared.iter_mut().for_each(Shared::start_workgroup);
            self.run_workgroup(workgroup as u32, workgroups)?;
        }
        Ok(())
    }

    fn run_workgroup(&mut self, workgroup: u32, workgroups: [u32; 3]) -> Result<(), Error> {
        let n_lanes = self.code.workgroup_size.iter().product();
        let mut lanes: Vec<Lane> = (0..n_lanes).map(|lane| self.lane(Who { workgroup, lane }, workgroups)).collect();
        loop {
            let mut stops = Vec::new();
            for lane in self.shuffle.order(lanes.len()) {
                stops.push(self.run_lane(&mut lanes[lane])?);
            }
            let barrier = stops.iter().find_map(|stop| match stop {
                Stop::Barrier(at) => Some(*at),
                Stop::End => None,
            });
            let Some(at) = barrier else { return Ok(()) };
            if stops.iter().any(|&stop| stop != Stop::Barrier(at)) {
                return Err(Error::Divergence { line: self.code.lines[at] });
            }
            let Op::Barrier { workgroup, storage } = self.code.ops[at] else { unreachable!("invocations stop at barriers") };
            self.shared.iter_mut().filter(|shared| if shared.is_workgroup { workgroup } else { storage }).for_each(Shared::pass_barrier);
        }
    }

    /// An invocation with its built-in values set.
    fn lane(&self, who: Who, workgroups: [u32; 3]) -> Lane {
        let size = self.code.workgroup_size;
        let split = |index: u32, size: [u32; 3]| [index % size[0], index / size[0] % size[1], index / size[0] / size[1]];
        let (group, local) = (split(who.workgroup, workgroups), split(who.lane, size));
        let mut words = self.code.words.clone();
        for &(input, at) in &self.code.inputs {
            match input {
                Input::GlobalInvocationId => words[at..at + 3].copy_from_slice(&[0, 1, 2].map(|i| group[i] * size[i] + local[i])),
                Input::LocalInvocationId => words[at..at + 3].copy_from_slice(&local),
                Input::LocalInvocationIndex => words[at] = who.lane,
                Input::WorkgroupId => words[at..at + 3].copy_from_slice(&group),
                Input::WorkgroupSize => words[at..at + 3].copy_from_slice(&size),
                Input::NWorkgroups => words[at..at + 3].copy_from_slice(&workgroups),
            }
        }
        let rounds = if self.accesses.is_some() { vec![0; self.code.ops.len()] } else { Vec::new() };
        Lane { who, words, next: 0, steps: 0, rounds }
    }

    /// Runs up to the next barrier or the end.
    fn run_lane(&mut self, lane: &mut Lane) -> Result<Stop, Error> {
        loop {
            let at = lane.next;
            lane.next += 1;
            lane.steps += 1;
            if lane.steps > MAX_STEPS {
                return Err(Error::Endless { line: self.code.lines[at] });
            }
            match self.code.ops[at] {
                Op::Jump { to } => lane.next = to,
                Op::JumpUnless { condition, to } if lane.words[condition] == 0 => lane.next = to,
                Op::JumpUnless { .. } => {}
                Op::Barrier { .. } => return Ok(Stop::Barrier(at)),
                Op::End => {
                    lane.next = at;
                    return Ok(Stop::End);
                }
                Op::Load { to, from, n } => self.load(lane, at, from, to, n)?,
                Op::Store { to, from, n } => self.store(lane, at, to, from, n)?,
                Op::Add { to, value, before } => self.add(lane, at, to, value, before)?,
                Op::Element { to, before, index, length, words } => {
                    let (index, length) = (lane.words[index], self.length(length));
                    if index as usize >= length {
                        return Err(Error::OutOfBounds { index, length, line: self.code.lines[at] });
                    }
                    lane.words[to] = before.map_or(0, |before| lane.words[before]) + index * words as u32;
                }
                op => calculate(self.arithmetic, op, &mut lane.words),
            }
        }
    }

    fn length(&self, length: Length) -> usize {
        match length {
            Length::Fixed(length) => length,
            Length::Of { shared, words } => self.shared[shared].words.len() / words,
        }
    }

    fn load(&mut self, lane: &mut Lane, operation: usize, from: Place, to: usize, n: usize) -> Result<(), Error> {
        let word = word_of(lane, from);
        match from.space {
            Space::Own => lane.words.copy_within(word..word + n, to),
            Space::Shared(shared) => {
                self.note(lane, operation, shared, word, n, false);
                self.shared[shared].read(word, &mut lane.words[to..to + n], lane.who, self.code.lines[operation])?;
            }
        }
        Ok(())
    }

    fn store(&mut self, lane: &mut Lane, operation: usize, to: Place, from: usize, n: usize) -> Result<(), Error> {
        let word = word_of(lane, to);
        match to.space {
            Space::Own => lane.words.copy_within(from..from + n, word),
            Space::Shared(shared) => {
                self.note(lane, operation, shared, word, n, true);
                self.shared[shared].write(word, &lane.words[from..from + n], lane.who, self.code.lines[operation])?;
            }
        }
        Ok(())
    }

    /// Traced as a store.
    fn add(&mut self, lane: &mut Lane, operation: usize, to: Place, value: usize, before: usize) -> Result<(), Error> {
        let Space::Shared(shared) = to.space else { unreachable!("no invocation has atomic values of its own") };
        let word = word_of(lane, to);
        self.note(lane, operation, shared, word, 1, true);
        lane.words[before] = self.shared[shared].add(word, lane.words[value], lane.who, self.code.lines[operation])?;
        Ok(())
    }

    fn note(&mut self, lane: &mut Lane, operation: usize, shared: usize, word: usize, n: usize, is_write: bool) {
        let (Some(accesses), Some(binding)) = (&mut self.accesses, self.code.shared[shared].binding) else { return };
        let (line, round, Who { workgroup, lane: index }) = (self.code.lines[operation], lane.rounds[operation], lane.who);
        accesses.push(Access { line, operation, round, workgroup, lane: index, binding, word, n, is_write });
        lane.rounds[operation] += 1;
    }
}

fn word_of(lane: &Lane, place: Place) -> usize {
    place.at + place.offset.map_or(0, |offset| lane.words[offset] as usize)
}

/// Computes an operation on an invocation's own words.
fn calculate(arithmetic: Arithmetic, op: Op, words: &mut [u32]) {
    let float = |word: u32| arithmetic.float(f32::from_bits(word));
    let pick = |words: &[u32], operand: Operand, i: usize| words[operand.at + i * operand.step];
    match op {
        Op::Copy { to, from, n } => words.copy_within(from..from + n, to),
        Op::Words1 { f, to, a, n } => (0..n).for_each(|i| words[to + i] = f(words[a + i])),
        Op::Words2 { f, to, a, b, n } => (0..n).for_each(|i| words[to + i] = f(pick(words, a, i), pick(words, b, i))),
        Op::Float1 { f, to, a, n } => (0..n).for_each(|i| words[to + i] = arithmetic.float(f(float(words[a + i]))).to_bits()),
        Op::Float2 { f, to, a, b, n } => {
            (0..n).for_each(|i| words[to + i] = arithmetic.float(f(float(pick(words, a, i)), float(pick(words, b, i)))).to_bits());
        }
        Op::Compare { f, to, a, b, n } => {
            (0..n).for_each(|i| words[to + i] = u32::from(f(float(pick(words, a, i)), float(pick(words, b, i)))));
        }
        Op::MultiplyAdd { to, a, b, c, negated, n } => {
            for i in 0..n {
                let [a, b, c] = [a, b, c].map(|operand| f32::from_bits(pick(words, operand, i)));
                let sign = |value: f32, is_negated: bool| if is_negated { -value } else { value };
                words[to + i] = arithmetic.multiply_add(sign(a, negated[0]), b, sign(c, negated[1])).to_bits();
            }
        }
        Op::Dot { to, a, b, n } => words[to] = arithmetic.dot(&words[a..a + n], &words[b..b + n]).to_bits(),
        Op::UnpackF16x2 { to, a } => {
            let word = words[a];
            [word & 0xffff, word >> 16].iter().enumerate().for_each(|(i, &bits)| words[to + i] = arithmetic.f16_to_f32(bits).to_bits());
        }
        Op::Select { to, condition, accept, reject, n } => {
            (0..n).for_each(|i| words[to + i] = if pick(words, condition, i) == 1 { words[accept + i] } else { words[reject + i] });
        }
        _ => unreachable!("this operation is not a calculation"),
    }
}
