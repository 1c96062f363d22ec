//! Writing a mapfile.
use super::{Mapfile, RescueStatus, Status};
use std::io::{self, Write};

impl Mapfile {
    /// Writes it in the columns that ddrescue uses. Hand it something buffered.
    ///
    /// # Errors
    /// `out` fails.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        for comment in &self.comments {
            writeln!(out, "{comment}")?;
        }
        let doing = RescueStatus::ALL.iter().find(|(doing, _)| *doing == self.doing).map_or('?', |(_, mark)| *mark);
        writeln!(out, "# current_pos  current_status  current_pass")?;
        writeln!(out, "0x{:08X}     {doing}               {}", self.current_pos, self.current_pass)?;
        writeln!(out, "#      pos        size  status")?;
        for block in &self.blocks {
            let status = Status::ALL.iter().find(|(status, _)| *status == block.status).map_or('?', |(_, mark)| *mark);
            writeln!(out, "0x{:08X}  0x{:08X}  {status}", block.extent.offset, block.extent.len)?;
        }
        out.flush()
    }
}
