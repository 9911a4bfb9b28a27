//! Checks browser translations of the kernels: naga's MSL for Metal, HLSL for Direct3D and SPIR-V for Vulkan, with the options of wgpu
//! 30, which Firefox uses. (Chrome compiles with Tint.)

use glasscage::gpu::catalog::{Shader, shaders};
use glasscage::gpu::variant::{VARIANTS, Variant};
use naga::back::{hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Module, ShaderStage};

/// Checks that wgpu-hal's `metal/device.rs` and `dx12/device.rs` use for untrusted modules.
const CHECKED: BoundsCheckPolicies = BoundsCheckPolicies {
    index: BoundsCheckPolicy::Restrict,
    buffer: BoundsCheckPolicy::Restrict,
    image_load: BoundsCheckPolicy::Restrict,
    binding_array: BoundsCheckPolicy::Unchecked,
};

fn parsed(shader: &Shader) -> (Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(&shader.wgsl).unwrap_or_else(|error| panic!("{}: {error}", shader.name));
    // The kernels need no optional WGSL feature.
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
    let info = info.unwrap_or_else(|error| panic!("{}: {}", shader.name, error.emit_to_string(&shader.wgsl)));
    (module, info)
}

fn entry_point() -> Option<(ShaderStage, String)> {
    Some((ShaderStage::Compute, "main".to_owned()))
}

/// For Metal 2.3 on macOS 11.
fn msl(shader: &Shader) -> String {
    let (module, info) = parsed(shader);
    let options = msl::Options { lang_version: (2, 3), bounds_check_policies: CHECKED, ..msl::Options::default() };
    let pipeline = msl::PipelineOptions { entry_point: entry_point(), ..msl::PipelineOptions::default() };
    msl::write_string(&module, &info, &options, &pipeline).unwrap_or_else(|error| panic!("{}: {error}", shader.name)).0
}

/// For shader model 5.1 and the compiler in Windows (FXC).
fn hlsl(shader: &Shader) -> String {
    let (module, info) = parsed(shader);
    let mut text = String::new();
    let pipeline = hlsl::PipelineOptions { entry_point: entry_point() };
    let written = hlsl::Writer::new(&mut text, &hlsl::Options::default(), &pipeline).write(&module, &info, None).map(drop);
    written.unwrap_or_else(|error| panic!("{}: {error}", shader.name));
    text
}

fn spirv(shader: &Shader) -> Vec<u32> {
    let (module, info) = parsed(shader);
    // Every Vulkan driver has this capability.
    let capabilities = Some([spv::Capability::Shader].into_iter().collect());
    let options = spv::Options { lang_version: (1, 3), bounds_check_policies: CHECKED, capabilities, ..spv::Options::default() };
    let pipeline = spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".into() };
    spv::write_vec(&module, &info, &options, Some(&pipeline)).unwrap_or_else(|error| panic!("{}: {error}", shader.name))
}

/// Maximum number of loops around the products (`dot` or `fma`) inside a function. Firefox adds a counter to each loop, which compilers
/// cannot optimize away. The loops over a row of W call these functions.
const LOOPS_AROUND_PRODUCTS: [(&str, usize); 2] = [("matmul_tiles", 0), ("matvec_shared", 0)];
/// Maximum number of clamped indices per product: each load from a tile has one.
const CLAMPS_A_PRODUCT: f64 = 0.5;

/// A block in braces.
#[derive(Clone, Copy, Default)]
struct Block {
    /// Number of loops around its statements inside its function.
    loops: usize,
    products: usize,
    clamps: usize,
}

/// All blocks of translated source, with counts that exclude their inner blocks.
fn blocks(text: &str) -> Vec<Block> {
    let (mut done, mut open) = (Vec::new(), vec![Block::default()]);
    for line in text.lines() {
        let here = open.last_mut().expect("no brace is closed that was not opened");
        let count = |words: &[&str]| words.iter().map(|word| line.matches(word).count()).sum::<usize>();
        here.products += count(&["dot(", "fma(", "mad("]);
        here.clamps += count(&["min(unsigned(", "min(uint("]);
        let loops = here.loops + count(&["while(true)", "while (true)", "for ("]);
        for brace in line.chars() {
            match brace {
                '{' => open.push(Block { loops, ..Block::default() }),
                '}' => done.extend(open.pop()),
                _ => {}
            }
        }
    }
    done
}

#[test]
fn kernels_translate_for_every_browser() {
    for shader in VARIANTS.iter().flat_map(shaders) {
        assert!(msl(&shader).contains("kernel void main_("), "{}", shader.name);
        assert!(hlsl(&shader).contains("void main("), "{}", shader.name);
        assert_eq!(spirv(&shader)[0], 0x0723_0203, "{}: SPIR-V begins with its magic number", shader.name);
    }
}

#[test]
fn hot_loops_have_no_inner_loops() {
    for (kernel, loops) in LOOPS_AROUND_PRODUCTS {
        for shader in shaders(Variant::of(false)).iter().filter(|shader| shader.name.starts_with(kernel)) {
            for text in [msl(shader), hlsl(shader)] {
                let with_products: Vec<Block> = blocks(&text).into_iter().filter(|block| block.products > 0).collect();
                assert!(!with_products.is_empty(), "{}: where are its products?", shader.name);
                for block in with_products {
                    assert!(block.loops <= loops, "{}: {} loops around its products:\n{text}", shader.name, block.loops);
                    let clamps = block.clamps as f64 / block.products as f64;
                    assert!(clamps <= CLAMPS_A_PRODUCT, "{}: {clamps} clamps a product:\n{text}", shader.name);
                }
            }
        }
    }
}

#[test]
fn loops_and_clamps_are_counted_per_block() {
    let text = "float f(x) {
 while(true) {
  if (done) { break; }
  s += dot(a[min(uint(i), 3u)], b);
  while(true) {
   s += dot(a, b);
  }
 }
}";
    let found: Vec<_> = blocks(text).iter().map(|block| (block.loops, block.products, block.clamps)).collect();
    assert_eq!(found, [(1, 0, 0), (2, 1, 0), (1, 1, 1), (0, 0, 0)]);
}
