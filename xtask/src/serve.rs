use anyhow::Result; pub fn serve()->Result<()> {crate::setup::web()?; Ok(())} pub fn release()->Result<()> {crate::setup::browser()?;Ok(())}
