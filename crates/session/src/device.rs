//! Measures this device with the loaded model.

use super::loaded::Session;
use super::problems;
use glasscage_engine::lm::{Callback, LmError, LoadError};
use glasscage_engine::{Engine, device};
use glasscage_model::gguf::Gguf;
use glasscage_model::source::ByteSource;
use glasscage_protocol::device::DeviceReport;
use glasscage_protocol::problem::Problem;

impl Session<Engine> {
    /// Measures the engine and the GPU for a bug report. `source` is the file of the loaded model. Returns `None` if `on_step`, which is
    /// called between the measurements, cancels.
    pub async fn measure_device(
        &mut self,
        source: &impl ByteSource,
        on_step: &mut dyn Callback<()>,
    ) -> Result<Option<DeviceReport>, Problem> {
        let gguf = Gguf::read(source).await.map_err(problems::unreadable_file)?;
        let measured = match device::measure(&mut self.lm, source, &gguf, on_step).await {
            Err(LoadError::Engine(LmError::Stopped)) => None,
            measured => measured.map_err(problems::load_failed)?,
        };
        let loaded = self.loaded_model();
        Ok(measured.map(|(speed, gpu)| DeviceReport {
            engine: loaded.backend,
            model: loaded.model.name,
            quantization: loaded.model.quantization,
            speed,
            gpu,
        }))
    }
}
