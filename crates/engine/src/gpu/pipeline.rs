//! Assembles WGSL and compiles it to pipelines, with a cache.

use std::rc::Rc;

use super::device::Gpu;
use super::kernel::{Kernel, Pipeline};
use super::kernels::{IMPORTS, SOURCES};

impl Kernel {
    /// The complete shader: constants, then the source with `#import NAME` lines replaced. `#import params` inserts the declaration of
    /// `Params` from the kernel's Rust file. `#import weights` also inserts the functions of the matrix format.
    pub fn wgsl(&self) -> String {
        let mut shader: String = self.constants.iter().map(|(name, value)| format!("const {name} = {value};\n")).collect();
        self.append(find(SOURCES, self.name), &mut shader);
        shader
    }

    fn append(&self, source: &str, shader: &mut String) {
        for line in source.lines() {
            match line.strip_prefix("#import ") {
                Some("params") => shader.push_str(self.params),
                Some(name) => self.append_import(name, shader),
                None => {
                    shader.push_str(line);
                    shader.push('\n');
                }
            }
        }
    }

    fn append_import(&self, name: &str, shader: &mut String) {
        self.append(find(IMPORTS, name), shader);
        if name == "weights" {
            self.append(self.format.expect("a kernel that reads weights has a format").wgsl, shader);
        }
    }
}

fn find(sources: &[(&'static str, &'static str)], name: &str) -> &'static str {
    sources.iter().find(|source| source.0 == name).unwrap_or_else(|| panic!("no WGSL source {name}")).1
}

impl Gpu {
    /// Number of kernels compiled so far.
    pub fn n_pipelines(&self) -> usize {
        self.pipelines.borrow().len()
    }

    /// WGSL of the kernels compiled so far.
    pub fn shaders(&self) -> Vec<String> {
        self.pipelines.borrow().keys().map(Kernel::wgsl).collect()
    }

    /// Returns the compiled kernel. Compiles it on first use.
    pub(crate) fn pipeline(&self, kernel: &Kernel) -> Rc<Pipeline> {
        if let Some(pipeline) = self.pipelines.borrow().get(kernel) {
            return pipeline.clone();
        }
        let wgsl = kernel.wgsl();
        #[cfg(test)]
        let wgsl = self.wrong_kernel.borrow_mut().as_mut().map_or(wgsl.clone(), |wrong| wrong.replace(kernel, &wgsl));
        let source = wgpu::ShaderSource::Wgsl(wgsl.into());
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(kernel.name), source });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(kernel.name),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions { zero_initialize_workgroup_memory: false, ..Default::default() },
            cache: None,
        });
        let pipeline = Rc::new(Pipeline {
            layout: pipeline.get_bind_group_layout(0),
            pipeline,
            #[cfg(not(target_arch = "wasm32"))]
            kernel: kernel.clone(),
        });
        self.pipelines.borrow_mut().insert(kernel.clone(), pipeline.clone());
        pipeline
    }
}
