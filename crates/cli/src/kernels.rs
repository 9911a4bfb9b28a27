//! `glasscage kernels`: writes the GPU kernels as WGSL files.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use glasscage_engine::gpu::catalog::shaders;
use glasscage_engine::gpu::variant::VARIANTS;

use super::output;

#[derive(Args)]
pub struct Arguments {
    /// Output folder, created if it is missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Writes the WGSL of all kernels into one folder for each variant, and prints how many there are.
pub fn kernels(arguments: &Arguments) -> Result<(), String> {
    for variant in VARIANTS {
        let folder = arguments.out.join(variant.name);
        let shaders = shaders(variant);
        fs::create_dir_all(&folder).map_err(|error| output::cannot_write(&folder, &error))?;
        for shader in &shaders {
            output::write(&folder.join(format!("{}.wgsl", shader.name)), &shader.wgsl)?;
        }
        output::print(&format!("{}: {} kernels\n", folder.display(), shaders.len()))?;
    }
    Ok(())
}
