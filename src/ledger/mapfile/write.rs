//! Writing a mapfile.
use super::Mapfile;
use std::io::{self, Write};

impl Mapfile {
    /// Writes it in ddrescue's columns. Pass a buffered writer.
    ///
    /// # Errors
    /// `out` fails.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        for comment in &self.comments {
            writeln!(out, "{comment}")?;
        }
        let doing = self.doing.letter();
        writeln!(out, "# current_pos  current_status  current_pass")?;
        writeln!(out, "0x{:08X}     {doing}               {}", self.current_pos, self.current_pass)?;
        writeln!(out, "#      pos        size  status")?;
        for block in &self.blocks {
            let status = block.status.letter();
            writeln!(out, "0x{:08X}  0x{:08X}  {status}", block.extent.offset, block.extent.len)?;
        }
        out.flush()
    }
}
