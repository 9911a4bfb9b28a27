use anyhow::Result; pub fn test()->Result<()> { let _=crate::setup::native(); Ok(())}
