//! WGSL to pipelines: imports, constants, and a cache of what is compiled.

use std::rc::Rc;

use super::device::Gpu;
use super::format::Format;
use super::kernels::{IMPORTS, SOURCES};

/// A kernel as it is to be compiled; the same description is compiled once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// Its file in `kernels/`.
    pub name: &'static str,
    /// `const NAME = value;` before the source.
    pub constants: Vec<(&'static str, String)>,
    /// Of the matrix that it reads.
    pub format: Option<&'static Format>,
    /// Items that a workgroup takes care of, along x and y.
    pub covers: [usize; 2],
}

/// A compiled kernel.
pub struct Pipeline {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
}

impl Kernel {
    pub fn new(name: &'static str, covers: [usize; 2]) -> Self {
        Self { name, constants: Vec::new(), format: None, covers }
    }

    pub fn number(mut self, name: &'static str, value: usize) -> Self {
        self.constants.push((name, format!("{value}u")));
        self
    }

    pub fn flag(mut self, name: &'static str, value: bool) -> Self {
        self.constants.push((name, value.to_string()));
        self
    }

    pub fn reading(mut self, format: &'static Format) -> Self {
        self.format = Some(format);
        self
    }

    /// The whole program: constants, then the source with `#import NAME` lines replaced. `#import weights` also brings
    /// the functions of the matrix's format.
    pub fn wgsl(&self) -> String {
        let mut program: String = self.constants.iter().map(|(name, value)| format!("const {name} = {value};\n")).collect();
        self.append(find(SOURCES, self.name), &mut program);
        program
    }

    fn append(&self, source: &str, program: &mut String) {
        for line in source.lines() {
            match line.strip_prefix("#import ") {
                Some(name) => {
                    self.append(find(IMPORTS, name), program);
                    if name == "weights" {
                        self.append(self.format.expect("a kernel that reads weights has a format").wgsl, program);
                    }
                }
                None => {
                    program.push_str(line);
                    program.push('\n');
                }
            }
        }
    }
}

fn find(sources: &[(&'static str, &'static str)], name: &str) -> &'static str {
    sources.iter().find(|source| source.0 == name).unwrap_or_else(|| panic!("no WGSL source {name}")).1
}

impl Gpu {
    /// Kernels compiled so far.
    pub fn n_pipelines(&self) -> usize {
        self.pipelines.borrow().len()
    }

    /// The compiled kernel.
    pub fn pipeline(&self, kernel: &Kernel) -> Rc<Pipeline> {
        if let Some(pipeline) = self.pipelines.borrow().get(kernel) {
            return pipeline.clone();
        }
        let source = wgpu::ShaderSource::Wgsl(kernel.wgsl().into());
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(kernel.name), source });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(kernel.name),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions { zero_initialize_workgroup_memory: false, ..Default::default() },
            cache: None,
        });
        let pipeline = Rc::new(Pipeline { layout: pipeline.get_bind_group_layout(0), pipeline });
        self.pipelines.borrow_mut().insert(kernel.clone(), pipeline.clone());
        pipeline
    }
}
