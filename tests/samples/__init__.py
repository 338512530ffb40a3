"""What several tests share: small systems, traces, programs and records to test with."""
