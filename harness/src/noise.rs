//! `--noise stderr`: lines of the server's stdout that are not JSON are kept from the client.

use framegate_pump::{Frame, Interceptor, Interest, Kind, Odd, Side, Verdict};

use crate::stderr::Stderr;

/// Diverts what is no JSON to stderr.
#[derive(Debug)]
pub(crate) struct DivertNoise(pub(crate) Stderr);

impl Interceptor for DivertNoise {
    fn interest(&self, from: Side) -> Interest {
        Interest { messages: false, odd: if from == Side::Server { Odd::Opaque } else { Odd::Nothing } }
    }

    fn odd_frame(&self, frame: &Frame, _: Kind, _: Side) -> Verdict {
        let mut line = frame.body().to_vec();
        line.push(b'\n');
        self.0.bytes(&line);
        Verdict::Drop { to_client: Vec::new() }
    }
}
