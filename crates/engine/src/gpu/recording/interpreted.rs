//! Runs kernels in an interpreter instead of on the GPU, for tests.

use kernel_interpreter::{Arithmetic, Kernel};

use super::{Pending, Recording};
use crate::gpu::device::Gpu;

/// Seed for the order of invocations.
const SEED: u64 = 16;

impl Recording<'_> {
    pub(super) fn interpret(self, arithmetic: Arithmetic) {
        self.dispatches.iter().for_each(|pending| pending.interpret(self.gpu, &self.params, arithmetic));
    }
}

impl Pending<'_> {
    fn interpret(&self, gpu: &Gpu, params: &[u8], arithmetic: Arithmetic) {
        let name = self.kernel.name;
        let kernel = Kernel::new(&self.kernel.wgsl(), arithmetic).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (offset, length) = self.params;
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        let params = (length > 0).then(|| params[offset..offset + length].chunks_exact(4).map(word).collect());
        let first = usize::from(length > 0);
        let read = |buffer| pollster::block_on(gpu.read(buffer, buffer.raw.size() as usize / 4)).expect("memory can be read");
        let mut bindings: Vec<Vec<u32>> = params.into_iter().chain(self.buffers.iter().map(|&buffer| read(buffer))).collect();
        let [x, y] = self.workgroups;
        kernel.run(&mut bindings, [x, y, 1], SEED).unwrap_or_else(|error| panic!("{name}: {error}"));
        self.buffers.iter().zip(&bindings[first..]).for_each(|(buffer, words)| gpu.write(buffer, 0, words));
    }
}
